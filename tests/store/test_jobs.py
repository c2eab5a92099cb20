"""Jobs and calls in the database."""

import sqlite3
from pathlib import Path

import pytest

from skel.store.calls import list_calls, log_call
from skel.store.connection import connect
from skel.store.database import Database
from skel.store.errors import StoreError
from skel.store.jobs import (
    KEPT,
    QueueFull,
    UnknownJob,
    add_job,
    claim_next,
    end_job,
    end_lost,
    get_job,
    job_text,
    list_jobs,
    report_progress,
    waiting_and_running,
)
from skel.store.transaction import plain_writing

ROOTS = ("/a",)


def alive(process: int, started: float) -> bool:
    return process == 1


def add(database: Database, number: int = 0, roots: tuple[str, ...] = ROOTS) -> str:
    return add_job(database, "scan_kernel", roots, {"file": f"{number}.py"}, 3).id


def test_a_job_goes_from_queue_to_result(database: Database) -> None:
    key = add(database)
    assert get_job(database, key, ROOTS).state == "queued"
    claimed = claim_next(database, 1, 5.0, 2, alive)
    assert claimed is not None and claimed.id == key and claimed.process == 1 and claimed.is_active
    report_progress(database, key, {"step": "compiled", "done": 1, "message": "x"})
    assert get_job(database, key, ROOTS).progress == {"step": "compiled", "done": 1, "message": "x"}
    assert end_job(database, key, "done", {"summary": "good"}, "text")
    job = get_job(database, None, ROOTS)
    assert (job.state, job.result, job.is_active) == ("done", {"summary": "good"}, False)
    assert job_text(database, key) == "text"


def test_the_same_request_is_not_queued_twice_while_it_is_active(database: Database) -> None:
    key = add(database)
    assert add(database) == key
    end_job(database, key, "cancelled")
    assert add(database) != key


def test_the_queue_has_an_end(database: Database) -> None:
    for number in range(3):
        add(database, number)
    with pytest.raises(QueueFull) as full:
        add(database, 3)
    assert full.value.waiting == 3


def test_the_oldest_is_taken_first_and_no_more_run_than_may(database: Database) -> None:
    keys = [add(database, number) for number in range(3)]
    taken = [claim_next(database, 1, float(n), 2, alive) for n in range(3)]
    assert [job and job.id for job in taken] == [keys[0], keys[1], None]
    assert waiting_and_running(database) == (1, 2)


def test_a_job_whose_process_is_gone_has_failed(database: Database) -> None:
    key = add(database)
    claim_next(database, 2, 5.0, 2, lambda process, started: True)
    assert end_lost(database, lambda process, started: True) == 0
    assert end_lost(database, alive) == 1
    job = get_job(database, key, ROOTS)
    assert job.state == "failed" and job.error == {"code": "job_interrupted"}


def test_a_lost_job_frees_its_place_for_the_next(database: Database) -> None:
    add(database)
    claim_next(database, 2, 5.0, 1, lambda process, started: True)
    key = add(database, 1)
    claimed = claim_next(database, 1, 6.0, 1, alive)
    assert claimed is not None and claimed.id == key


def test_the_first_end_stays(database: Database) -> None:
    key = add(database)
    assert end_job(database, key, "cancelled")
    assert not end_job(database, key, "done", {"summary": "late"})
    job = get_job(database, key, ROOTS)
    assert job.state == "cancelled" and job.result is None


def test_other_roots_see_nothing(database: Database) -> None:
    key = add(database)
    with pytest.raises(UnknownJob):
        get_job(database, key, ("/b",))
    with pytest.raises(UnknownJob):
        get_job(database, None, ("/b",))
    assert list_jobs(database, ("/b",)) == ()
    assert [job.id for job in list_jobs(database, ROOTS)] == [key]


def test_old_ended_jobs_go(database: Database) -> None:
    with plain_writing(database) as connection:
        connection.executemany(
            "INSERT INTO jobs (id, tool, roots, request, state, created_at) VALUES (?, 't', '[]', '{}', 'done', '')",
            [(f"old{number}",) for number in range(KEPT + 50)],
        )
    add(database)
    with database.reading() as connection:
        (count,) = connection.execute("SELECT count(*) FROM jobs").fetchone()
    assert count <= KEPT + 1


def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    with pytest.raises(RuntimeError), plain_writing(database) as connection:
        connection.execute(
            "INSERT INTO jobs (id, tool, roots, request, state, created_at) VALUES ('x', 't', '[]', '{}', 'queued', '')"
        )
        raise RuntimeError
    assert waiting_and_running(database) == (0, 0)


def test_calls_are_kept_shortened_with_the_hash_of_all(database: Database) -> None:
    log_call(database, 7, "scan_kernel", {"file": "x" * 5000}, "ok", "job_1", 0.25)
    log_call(database, 7, "get_job", {"bad": object}, "bad_input", None, 0.0)
    newest, first = list_calls(database)
    assert (newest.tool, newest.outcome) == ("get_job", "bad_input")
    assert (first.process, first.job, first.seconds, len(first.arguments)) == (7, "job_1", 0.25, 2000)
    assert len(first.arguments_sha256) == 64


@pytest.mark.parametrize("statement", ["DELETE FROM calls", "UPDATE calls SET outcome = 'ok'"])
def test_the_log_cannot_be_changed(database: Database, statement: str) -> None:
    log_call(database, 7, "scan_kernel", {}, "outside_roots", None, 0.0)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connect(Path(database.path)).execute(statement)
    assert [one.outcome for one in list_calls(database)] == ["outside_roots"]


@pytest.mark.parametrize(
    ("column", "text"), [("request", "{nonsense"), ("result", "[1]"), ("progress", "3"), ("roots", "{}")]
)
def test_a_job_that_does_not_hold_what_was_written_is_a_damaged_database(
    database: Database, column: str, text: str
) -> None:
    key = add(database)
    with plain_writing(database) as connection:
        connection.execute(f"UPDATE jobs SET {column} = ?", (text,))
    with pytest.raises((StoreError, UnknownJob)) as raised:
        get_job(database, key, ROOTS)
    if column != "roots":  # with other roots it is somebody else's
        assert isinstance(raised.value, StoreError) and "damaged" in str(raised.value)
