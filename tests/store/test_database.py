import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from skel.store import migrate
from skel.store.connection import APPLICATION_ID
from skel.store.database import Database, open_database
from skel.store.errors import InaccessibleError, RecordError, StoreError, UnknownSkeleton
from skel.store.evidence import add_evidence, evidence_for
from skel.store.records import add_skeleton, get_skeleton, list_skeletons
from skel.store.schema.evidence import Evidence
from skel.store.schema.skeleton import Skeleton
from skel.store.search import search

Write = Callable[..., Path]


def names(database: Database) -> list[str]:
    return [listed.name for listed in list_skeletons(database)]


def test_a_new_database_is_filled(database: Database) -> None:
    assert names(database) == ["cache_policy", "share_norm", "split_sum", "wide_index"]
    with database.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert migrate.revision_of(connection) == migrate.known_revisions()[-1]


def test_migrations_give_what_the_models_say(database: Database) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from skel.store.models import Base

    def ours(name: str | None, kind: str, _: object) -> bool:
        return kind != "table" or name in Base.metadata.tables

    with database.writing() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True, "include_name": ours})
        assert compare_metadata(context, Base.metadata) == []


def test_file_names_of_migrations_are_their_revisions() -> None:
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(Path(migrate.__file__).parent / "migrations"))
    revisions = tuple(reversed([found.revision for found in script.walk_revisions()]))
    assert revisions == migrate.known_revisions()
    assert [script.get_current_head()] == list(revisions[-1:])


def test_migrations_go_down_to_nothing(database: Database) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    with database.writing() as session:
        config.attributes["connection"] = session.connection()
        command.downgrade(config, "base")
        left = session.scalars(text("SELECT name FROM sqlite_master WHERE type = 'table'")).all()
    assert left == ["alembic_version"]


def test_reading_a_ready_store_imports_nothing_heavy(database: Database, records: Path) -> None:
    code = ("import sys, pathlib; from skel.store.database import open_database; from skel.store.search import search; "
            f"db = open_database({str(database.path)!r}, pathlib.Path({str(records)!r})); "
            "assert search(db, 'eviction policy'); "
            "heavy = ('sqlalchemy', 'alembic', 'pydantic', 'yaml', 'torch', 'transformers'); "
            "print([m for m in heavy if m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_readers_cannot_write(database: Database) -> None:
    with pytest.raises(StoreError, match="cannot be written"), database.reading() as connection:
        connection.execute("DELETE FROM skeletons")


def test_changed_records_are_taken_over_and_the_users_own_stay(
        database: Database, records: Path, write: Write, measured: Callable[..., Evidence]) -> None:
    mine = get_skeleton(database, "share_norm").model_copy(update={"name": "mine", "title": "Mine: frobnication"})
    add_skeleton(database, mine)
    kept = add_evidence(database, measured(skeleton="split_sum"))
    shutil.rmtree(records / "split_sum")
    write("share_norm", title="Another title")
    write("brand_new")
    again = open_database(str(database.path), records)
    assert names(again) == ["brand_new", "cache_policy", "mine", "share_norm", "wide_index"]
    assert get_skeleton(again, "share_norm").title == "Another title"
    assert get_skeleton(again, "mine") == mine
    assert search(again, "frobnication")[0].name == "mine"
    assert [item.skeleton for item in evidence_for(again, "split_sum")] == ["split_sum"]
    with again.reading() as connection:
        assert connection.execute("SELECT id FROM evidence").fetchall() == [(kept,)]


def test_a_users_record_keeps_its_name(database: Database, records: Path, write: Write) -> None:
    mine = Skeleton.model_validate({**get_skeleton(database, "share_norm").model_dump(), "name": "later",
                                    "title": "The user's"})
    add_skeleton(database, mine)
    write("later", title="The package's")
    assert get_skeleton(open_database(str(database.path), records), "later").title == "The user's"


def test_a_user_may_replace_only_their_own(database: Database) -> None:
    shipped = get_skeleton(database, "share_norm")
    with pytest.raises(StoreError, match="skel ships a skeleton named 'share_norm'"):
        add_skeleton(database, shipped)
    for title in ("First try", "Second zebra"):
        add_skeleton(database, shipped.model_copy(update={"name": "mine", "title": title}))
    assert [listed.title for listed in list_skeletons(database) if listed.name == "mine"] == ["Second zebra"]
    assert [hit.name for hit in search(database, "zebra")] == ["mine"]


def test_an_unknown_name_suggests_one(database: Database) -> None:
    with pytest.raises(UnknownSkeleton, match="did you mean share_norm") as caught:
        get_skeleton(database, "Share-Norms")
    assert caught.value.close == ("share_norm",)


def test_a_faulty_record_changes_nothing(database: Database, records: Path, write: Write) -> None:
    write("wide_index", kind="odd")
    write("brand_new")
    with pytest.raises(RecordError, match=r"wide_index/skeleton\.yaml:\d+: kind: "):
        open_database(str(database.path), records)
    assert "brand_new" not in names(database)


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("content", [b"no database", b"\0" * 4096, b"SQLite format 3", b"SQLite format 3\0zz"])
def test_what_is_no_database_is_left_alone(tmp_path: Path, records: Path, content: bytes) -> None:
    path = tmp_path / "place" / "skel.db"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"skel\.db: .*damaged.*never overwrites"):
        open_database(str(path), records)
    assert content_of(path.parent) == {"skel.db": content}


def test_another_programs_database_is_left_alone(tmp_path: Path, records: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE meta (key TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        open_database(str(path), records)
    assert path.read_bytes() == before


@pytest.mark.parametrize("start", [100, 4096, 3 * 4096])
def test_a_damaged_store_is_left_alone(database: Database, records: Path, write: Write, start: int) -> None:
    content = bytearray(database.path.read_bytes())
    content[start:] = bytes(x ^ 0x5A for x in content[start:])
    database.path.write_bytes(content)
    write("brand_new")  # so that the store would have to be written
    with pytest.raises(StoreError, match=r"damaged|another program"):
        open_database(str(database.path), records)
    assert database.path.read_bytes() == content


def test_a_truncated_store_is_left_alone(database: Database, records: Path, write: Write) -> None:
    content = database.path.read_bytes()[: 5 * 4096]
    database.path.write_bytes(content)
    write("brand_new")
    with pytest.raises(StoreError, match="damaged"):
        open_database(str(database.path), records)
    assert database.path.read_bytes() == content


def test_a_record_that_changed_under_us_is_not_believed(database: Database, measured: Callable[..., Evidence]) -> None:
    add_evidence(database, measured(kernel="quiet_kernel"))
    content = database.path.read_bytes().replace(b"Compute a shared norm", b"Compute a shared form") \
        .replace(b"quiet_kernel", b"quiet_kernal")
    database.path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        get_skeleton(database, "share_norm")
    with pytest.raises(StoreError, match="damaged"):
        evidence_for(database, "share_norm")


def test_a_newer_schema_is_left_alone(database: Database, records: Path) -> None:
    with database.writing() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"\(9999\) is newer .* update skel"):
        open_database(str(database.path), records)


def test_a_store_that_vanished_is_not_made_anew_by_a_reader(database: Database) -> None:
    database.path.unlink()
    with pytest.raises(InaccessibleError):
        list_skeletons(database)
    assert not database.path.exists()


@pytest.mark.parametrize("url", ["postgresql://h/db", "sqlite://", "sqlite:///", ":memory:", "sqlite:///:memory:", ""])
def test_other_urls_are_refused(url: str, records: Path) -> None:
    with pytest.raises(StoreError, match="sqlite:///PATH"):
        open_database(url, records)


def test_urls_and_paths_name_the_same_file(tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "a b%20?c" / "skel.db"
    place.parent.mkdir()
    expected = open_database(f"sqlite:///{place}", records)
    assert expected.path == place and place.exists()
    assert open_database(expected.url, records) == open_database("a b%20?c/skel.db", records) == expected
    monkeypatch.setenv("SKEL_DB", str(place))
    assert open_database(None, records) == expected


def test_a_chosen_place_that_cannot_be_written_is_an_error(tmp_path: Path, records: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InaccessibleError, match="give another"):
        open_database(str(tmp_path / "file" / "skel.db"), records)
    with pytest.raises(InaccessibleError):
        open_database(str(tmp_path), records)


@pytest.mark.parametrize("given", ["typo/skel.db", "sqlite:///typo/deep/er/skel.db"])
def test_a_chosen_folder_that_does_not_exist_is_not_made(
        tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError, match="does not exist"):
        open_database(given, records)
    monkeypatch.setenv("SKEL_DB", given)
    with pytest.raises(StoreError, match="does not exist"):
        open_database(None, records)
    assert sorted(tmp_path.iterdir()) == before


def test_the_default_place_falls_back_with_a_warning(tmp_path: Path, records: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "tmp").mkdir()
    monkeypatch.delenv("SKEL_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    found = open_database(None, records)
    assert found.path.is_relative_to(tmp_path / "tmp") and names(found)
    assert len(found.warnings) == 1 and str(found.path) in found.warnings[0]
    assert found.path.parent.stat().st_mode & 0o077 == 0
    assert open_database(None, records).path == found.path


def test_the_fallback_folder_must_be_the_users_own(tmp_path: Path, records: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    (tmp_path / "file").touch()
    monkeypatch.delenv("SKEL_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    planted = tmp_path / f"skel-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    assert open_database(None, records).path.parent != planted


def test_the_default_place_is_the_users_data_folder(tmp_path: Path, records: Path,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SKEL_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    found = open_database(None, records)
    assert (found.path, found.warnings) == (tmp_path / "data" / "skel" / "skel.db", ())


def test_writers_queue(database: Database, measured: Callable[..., Evidence]) -> None:
    started, errors = threading.Event(), []

    def second() -> None:
        started.set()
        try:
            add_evidence(database, measured(kernel="second"))
        except StoreError as error:
            errors.append(error)

    with database.writing() as session:
        thread = threading.Thread(target=second)
        thread.start()
        started.wait()
        thread.join(0.3)
        assert thread.is_alive()  # it waits for the lock
        assert evidence_for(database, "share_norm") == ()  # readers do not
        session.execute(text("INSERT INTO meta VALUES ('first', 'done')"))
    thread.join()
    assert errors == [] and [item.kernel for item in evidence_for(database, "share_norm")] == ["second"]
