"""Processes that create, fill and write one store at once."""

import signal
import subprocess
import sys
from pathlib import Path

from skel.store.database import Database, open_database
from skel.store.evidence import evidence_for
from skel.store.records import list_skeletons

_OPEN = """
import sys, pathlib
from skel.store.database import open_database
sys.stdin.readline()
db = open_database(sys.argv[1], pathlib.Path(sys.argv[2]))
"""
_APPEND = _OPEN + """
from datetime import datetime, UTC
from skel.store.evidence import add_evidence
from skel.store.schema.evidence import Evidence
for number in range(int(sys.argv[4])):
    add_evidence(db, Evidence(skeleton="share_norm", kernel=f"{sys.argv[3]}-{number}", file="f", source_sha256="0",
                              level="numerics", verdict="equivalent", environment={"device": "cpu"},
                              measured_at=datetime.now(UTC)))
    print(number, flush=True)
"""


def start(code: str, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def go(processes: "list[subprocess.Popen[str]]") -> None:
    """Let all of them off the line at once, and see each end well."""
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors


def test_creators_and_writers_at_the_same_moment_lose_nothing(tmp_path: Path, records: Path) -> None:
    path = tmp_path / "skel.db"
    go([start(_APPEND, path, records, f"w{number}", 15) for number in range(4)])
    database = open_database(str(path), records)
    kernels = {item.kernel for item in evidence_for(database, "share_norm")}
    assert kernels == {f"w{writer}-{number}" for writer in range(4) for number in range(15)}
    assert len(list_skeletons(database)) == 4
    with database.reading() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM texts").fetchone() == (4,)


def test_a_refill_beside_writers_loses_nothing(database: Database, records: Path, write: object) -> None:
    assert callable(write)
    write("brand_new")
    go([start(_APPEND, database.path, records, "w", 15), start(_OPEN, database.path, records),
        start(_OPEN, database.path, records)])
    assert len(evidence_for(database, "share_norm")) == 15
    assert list_skeletons(database)[0].name == "brand_new"


def test_a_killed_writer_leaves_a_sound_store(database: Database, records: Path) -> None:
    process = start(_APPEND, database.path, records, "w", 100_000)
    assert process.stdin and process.stdout
    process.stdin.write("\n")
    process.stdin.flush()
    said = [process.stdout.readline() for _ in range(3)]
    process.send_signal(signal.SIGKILL)
    said += process.communicate(timeout=60)[0].splitlines()
    stored = {item.kernel for item in evidence_for(open_database(str(database.path), records), "share_norm")}
    assert {f"w-{int(number)}" for number in said} <= stored
    with database.reading() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_creator_killed_half_way_leaves_the_way_free(tmp_path: Path, records: Path) -> None:
    path = tmp_path / "skel.db"
    die = ("import os, signal; from skel.store import fill\n"
           "fill.index_all = lambda connection, ready: os.kill(os.getpid(), signal.SIGKILL)\n") + _OPEN
    process = start(die, path, records)
    process.communicate("\n", timeout=60)
    assert process.returncode == -signal.SIGKILL and path.exists()
    assert len(list_skeletons(open_database(str(path), records))) == 4
