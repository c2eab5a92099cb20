import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import text

from skel.store.database import Database, open_database
from skel.store.errors import RecordError, StoreError
from skel.store.evidence import add_evidence, evidence_for, evidence_id
from skel.store.schema.evidence import Evidence
from skel.store.schema.finding import Finding

Measured = Callable[..., Evidence]


def test_what_was_added_comes_back(database: Database, measured: Measured) -> None:
    one = measured(settings={"tile": 32}, workloads=({"name": "small", "ratio": 1.5},),
                   findings=(Finding(code="spills", message="it spills"),))
    key = add_evidence(database, one)
    assert evidence_for(database, "share_norm") == (one,)
    assert key == evidence_id(one) and len(key) == 64
    assert evidence_for(database, "wide_index") == ()


def test_the_same_evidence_is_stored_once(database: Database, measured: Measured) -> None:
    assert add_evidence(database, measured()) == add_evidence(database, measured())
    assert len(evidence_for(database, "share_norm")) == 1
    assert add_evidence(database, measured(kernel="other")) != evidence_id(measured())


def test_evidence_comes_oldest_first_whatever_its_time_zone(database: Database, measured: Measured) -> None:
    east = timezone(timedelta(hours=8))
    late = measured(measured_at=datetime(2026, 1, 1, 9, tzinfo=east), kernel="late")
    early = measured(measured_at=datetime(2026, 1, 1, 8, 30, tzinfo=east), kernel="early")
    middle = measured(measured_at=datetime.fromisoformat("2026-01-01T00:45:00+00:00"), kernel="middle")
    for item in (late, early, middle):
        add_evidence(database, item)
    assert [item.kernel for item in evidence_for(database, "share_norm")] == ["early", "middle", "late"]


def test_figures_that_are_no_numbers_are_kept_as_words(database: Database, measured: Measured) -> None:
    add_evidence(database, measured(numerics={"worst": math.inf, "rms": [math.nan, 1.0]}))
    (found,) = evidence_for(database, "share_norm")
    assert found.numerics == {"worst": "Infinity", "rms": ["NaN", 1.0]}
    assert evidence_id(found) == add_evidence(database, found)


@pytest.mark.parametrize("statement", [
    "UPDATE evidence SET verdict = 'faster'", "DELETE FROM evidence",
    "UPDATE OR REPLACE evidence SET id = 'x'", "UPDATE OR IGNORE evidence SET kernel = 'x'",
])
def test_evidence_cannot_be_changed(database: Database, measured: Measured, statement: str) -> None:
    add_evidence(database, measured())
    with pytest.raises(StoreError, match="append-only"), database.writing() as session:
        session.execute(text(statement))
    assert evidence_for(database, "share_norm") == (measured(),)


@pytest.mark.parametrize("how", [
    "INSERT OR REPLACE INTO evidence {}", "REPLACE INTO evidence {}",
    "INSERT INTO evidence {} WHERE true ON CONFLICT (id) DO UPDATE SET verdict = 'faster'",
])
def test_evidence_cannot_be_replaced(database: Database, measured: Measured, how: str) -> None:
    key = add_evidence(database, measured())
    copy = "SELECT id, skeleton, kernel, level, 'faster', measured_at, environment, '{}' FROM evidence"
    with closing(sqlite3.connect(database.path)) as connection:
        connection.execute(how.format(copy))
        connection.commit()
        assert connection.execute("SELECT id, verdict FROM evidence").fetchall() == [(key, "equivalent")]


def test_shipped_evidence_is_loaded_by_content(records: Path, tmp_path: Path, measured: Measured) -> None:
    folder = records / "share_norm" / "evidence"
    folder.mkdir()
    first, second = measured(), measured(kernel="other", verdict="wrong")
    (folder / "a.json").write_text(first.model_dump_json())
    database = open_database(str(tmp_path / "new.db"), records)
    assert evidence_for(database, "share_norm") == (first,)
    (folder / "b.json").write_text(json.dumps([json.loads(item.model_dump_json()) for item in (first, second)]))
    assert {item.kernel for item in evidence_for(open_database(database.url, records), "share_norm")} == {
        "step", "other"}
    (folder / "a.json").unlink()
    assert len(evidence_for(open_database(database.url, records), "share_norm")) == 2


@pytest.mark.parametrize(("content", "line", "field"), [
    ("{\n", 2, None), ('{"skeleton": "share_norm"}', None, "kernel"), (b"\xff", None, None)])
def test_faulty_shipped_evidence_names_its_file(records: Path, tmp_path: Path, content: str | bytes, line: int | None,
                                                field: str | None) -> None:
    path = records / "share_norm" / "evidence" / "a.json"
    path.parent.mkdir()
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(RecordError) as caught:
        open_database(str(tmp_path / "new.db"), records)
    assert (caught.value.file, caught.value.line, caught.value.field) == (str(path), line, field)


def test_shipped_evidence_lies_with_its_skeleton(records: Path, tmp_path: Path, measured: Measured) -> None:
    path = records / "wide_index" / "evidence" / "a.json"
    path.parent.mkdir()
    path.write_text(measured().model_dump_json())
    with pytest.raises(RecordError, match="'share_norm', but lies with 'wide_index'"):
        open_database(str(tmp_path / "new.db"), records)
