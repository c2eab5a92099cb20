"""The contract of every command: exit statuses, one JSON document on stdout, helpful reports, a fast start."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import pytest

from skel.cli import app
from skel.cli.options import Db, Json
from skel.cli.output import emit
from skel.faults import MissingHere, WrongUse
from skel.store.errors import RecordError, StoreError, UnknownSkeleton
from tests.cli.running import Skel

ROOT = Path(__file__).resolve().parents[2]


def install(monkeypatch: pytest.MonkeyPatch, raised: BaseException | None) -> None:
    """Put a command `fake` in the table: it prints, then raises, or emits a document and returns 1."""
    module = types.ModuleType("tests_fake_command")

    def command(as_json: Json = False, db: Db = None) -> int:
        """A command for tests."""
        print("a library prints this")
        if raised is not None:
            raise raised
        emit({"a": (1, 2)}, as_json, lambda console: console.print("for people"))
        return 1

    module.command = command  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(app.COMMANDS, "fake", module.__name__)


def test_a_commands_status_is_returned_and_stdout_holds_the_document_alone(skel: Skel, monkeypatch) -> None:
    install(monkeypatch, None)
    ended = skel("fake", "--json")
    assert ended.status == 1
    assert ended.document == {"a": [1, 2]}
    assert "a library prints this" in ended.err


def test_people_get_text_on_stdout(skel: Skel, monkeypatch) -> None:
    install(monkeypatch, None)
    assert skel("fake").out == "for people\n"


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (WrongUse("no such thing", where="here", hint="do it"), 2, ["no such thing", "where: here", "to do: do it"]),
        (MissingHere("no GPU", hint="use another machine"), 4, ["no GPU", "what to do: use another machine"]),
        (StoreError("the database is damaged", "/x.db", "move it away"), 4, ["damaged", "/x.db", "move it away"]),
        (UnknownSkeleton("fuse", ("fuse_vtiles",)), 2, ["'fuse'", "fuse_vtiles", "skel list"]),
        (RecordError("a.yaml", 3, "title", "unknown field"), 2, ["a.yaml:3", "title", "unknown field"]),
    ],
)
def test_foreseen_faults(skel: Skel, monkeypatch, raised: Exception, status: int, said: list[str]) -> None:
    install(monkeypatch, raised)
    ended = skel("fake", "--json")
    assert ended.status == status
    assert all(part in ended.err for part in said)
    assert "Traceback" not in ended.err
    assert ended.document["error"]["status"] == status
    assert skel("fake").out.strip() in ("", "a library prints this")


def test_our_own_fault_is_one_line_and_a_saved_traceback(skel: Skel, monkeypatch) -> None:
    install(monkeypatch, ZeroDivisionError("oops\nsecond line"))
    ended = skel("fake", "--json")
    assert ended.status == 3
    assert "ZeroDivisionError: oops" in ended.err and "second line" not in ended.err
    saved = Path(ended.document["error"]["where"]).read_text(encoding="utf-8")
    assert "Traceback" in saved and "second line" in saved and "'fake'" in saved


def test_an_unwritable_report_folder_still_reports(skel: Skel, monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "blocked"))
    install(monkeypatch, ZeroDivisionError("oops"))
    ended = skel("fake", "--json")
    assert ended.status == 3
    assert "Traceback" in Path(ended.document["error"]["where"]).read_text(encoding="utf-8")


def test_ctrl_c_ends_cleanly(skel: Skel, monkeypatch) -> None:
    install(monkeypatch, KeyboardInterrupt())
    ended = skel("fake")
    assert ended.status == 130
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("words", [["nonsense"], ["show"], ["list", "--nonsense"], ["search", "x", "-n", "many"]])
def test_wrong_words_are_wrong_use(skel: Skel, words: list[str]) -> None:
    ended = skel(*words, "--json")
    assert ended.status == 2
    assert "--help" in ended.err
    assert ended.document["error"]["status"] == 2


@pytest.mark.parametrize("name", app.COMMANDS)
def test_every_command_has_help_json_and_db(skel: Skel, name: str) -> None:
    ended = skel(name, "--help")
    assert ended.status == 0
    assert "--json" in ended.out and "--db" in ended.out


def test_without_words_there_is_help(skel: Skel) -> None:
    ended = skel()
    assert ended.status == 0
    assert all(name in ended.out for name in app.COMMANDS)


def test_a_database_of_another_kind_is_wrong_use(skel: Skel) -> None:
    ended = skel("list", "--db", "postgresql://somewhere/else")
    assert ended.status == 2
    assert "SQLite" in ended.err and "what to do" in ended.err


def test_a_damaged_database_is_reported_and_kept(skel: Skel, tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is no database" * 100)
    before = broken.read_bytes()
    assert skel("list", "--db", f"sqlite:///{broken}").status == 2
    assert broken.read_bytes() == before


HEAVY = {"torch", "triton", "transformers", "sentence_transformers", "sqlalchemy", "alembic", "libcst"}


@pytest.mark.parametrize("words", [["--help"], ["search", "redundant norm", "--json"], ["list"], ["apply", "--help"]])
def test_a_fast_start_imports_nothing_heavy(words: list[str], database: str, tmp_path: Path) -> None:
    warm = [sys.executable, "-m", "skel", "list", "--db", database]
    subprocess.run(warm, cwd=ROOT, check=True, capture_output=True)
    database_words = [] if "--help" in words else ["--db", database]
    command = [sys.executable, "-X", "importtime", "-m", "skel", *words, *database_words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "skel.cli.app" in imported
    assert not imported & HEAVY
