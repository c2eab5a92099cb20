"""Mining into the database: once, incrementally, whole or not at all."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from skel.miner import mining
from skel.miner.errors import SourceError
from skel.miner.mining import Mined, mine
from skel.miner.sources import open_source
from skel.store.database import Database, open_database
from skel.store.errors import StoreError
from skel.store.mined import FoundClaim, mined_state, store_claims
from skel.store.mined_query import claims_of, kernel_at, mined_sources, occurrences_of
from tests.miner.conftest import commit

HEAD = "import triton\nimport triton.language as tl\n\n"
NORM = """
@triton.jit
def {name}(x, y, D: tl.constexpr):
    i = tl.program_id(0)
    o = tl.arange(0, D)
    b = tl.load(x + i * D + o)
    b = {value}
    tl.store(y + i * D + o, b)
"""
DIVIDED = "b / tl.sqrt(tl.sum(b * b, 0) + 1e-6)"
MULTIPLIED = "b * tl.rsqrt(tl.sum(b * b, 0) + 1e-6)"


def norm(value: str = DIVIDED, name: str = "norm") -> str:
    return HEAD + NORM.format(name=name, value=value)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    records = tmp_path / "records"
    records.mkdir()
    return open_database(f"sqlite:///{tmp_path / 'mined.db'}", records)


def run(database: Database, spec: str) -> Mined:
    return mine(open_source(spec), database, jobs=1)


def roles(database: Database, technique: str, retired: bool = False) -> list[tuple[str, str, str | None]]:
    return [
        (o.role, p.path, p.retired_revision) for o in occurrences_of(database, technique, retired) for p in o.places
    ]


def test_a_source_is_mined_once(database: Database, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = commit(repository, {"k/a.py": norm(), "LICENSE": "Apache License Version 2.0"})
    mined = run(database, str(repository))
    assert mined.state == "mined" and mined.summary["kernels"] == 1
    (occurrence,) = occurrences_of(database, "div_to_reciprocal")
    (place,) = occurrence.places
    assert (place.path, place.kernel, place.revision, place.licence) == ("k/a.py", "norm", first, "Apache-2.0")
    assert norm().splitlines()[place.line - 1].strip().startswith("b = b / tl.sqrt")
    assert kernel_at(database, "made", "k/a.py", "norm") is not None
    monkeypatch.setattr(mining, "read_code", lambda *a: pytest.fail("it was read again"))
    assert run(database, str(repository)).state == "unchanged"


def test_a_new_revision_adds_retires_and_changes(database: Database, repository: Path) -> None:
    first = commit(repository, {"a.py": norm(), "b.py": norm(name="other")})
    run(database, str(repository))
    second = commit(repository, {"a.py": norm(MULTIPLIED), "c.py": norm("b / tl.sqrt(tl.sum(b, 0))", "third")})
    counts = run(database, str(repository)).summary["techniques"]["div_to_reciprocal"]
    assert counts == {"uses": 1, "could_use": 2, "new": 2, "gone": 1}
    assert sorted(roles(database, "div_to_reciprocal")) == [
        ("could_use", "b.py", None), ("could_use", "c.py", None), ("uses", "a.py", None)]  # fmt: skip
    assert ("could_use", "a.py", second) in roles(database, "div_to_reciprocal", retired=True)
    kept = next(p for o in occurrences_of(database, "div_to_reciprocal") for p in o.places if p.path == "b.py")
    assert (kept.first_revision, kept.revision) == (first, second)
    commit(repository, {"b.py": norm("b / tl.sqrt(tl.sum(b * 2, 0))", "other")})
    assert run(database, str(repository)).summary["techniques"]["div_to_reciprocal"]["changed"] == 1


def test_copies_in_two_sources_are_one_occurrence_with_both_places(database: Database, tmp_path: Path) -> None:
    for name, kernel in (("one", "norm"), ("two", "vendored")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.py").write_text(norm(name=kernel))
        run(database, str(tmp_path / name))
    (occurrence,) = occurrences_of(database, "div_to_reciprocal")
    assert [(p.source, p.kernel) for p in occurrence.places] == [("one", "norm"), ("two", "vendored")]


def test_only_changed_files_are_read_again(
    database: Database, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, {"a.py": norm(), "b.py": norm(name="other")})
    run(database, str(repository))
    commit(repository, {"a.py": norm(MULTIPLIED)})
    read: list[str] = []
    real = mining.read_files
    monkeypatch.setattr(mining, "read_files", lambda k, f, r: read.extend(p for p, _ in f) or real(k, f, r))
    run(database, str(repository))
    assert read == ["a.py"]


def test_a_changed_helper_has_its_callers_read_again(
    database: Database, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = HEAD + "\n@triton.jit\ndef act(b):\n    return {}\n"
    kernel = norm("act(b)").replace("\n\n", "\nfrom helpers import act\n\n", 1)
    commit(repository, {"helpers.py": helper.format("tl.exp2(b)"), "a.py": kernel})
    run(database, str(repository))
    commit(repository, {"helpers.py": helper.format("b * 2")})
    read: list[str] = []
    real = mining.read_files
    monkeypatch.setattr(mining, "read_files", lambda k, f, r: read.extend(p for p, _ in f) or real(k, f, r))
    run(database, str(repository))
    assert sorted(read) == ["a.py", "helpers.py"]


def test_a_file_that_is_no_python_is_listed_and_ends_nothing(database: Database, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.py").write_text(norm())
    (tmp_path / "s" / "b.py").write_text("import triton  # jit\ndef (:\n")
    (tmp_path / "s" / "c.py").write_bytes(b"import triton  # jit\n\xff\xfe")
    summary = run(database, str(tmp_path / "s")).summary
    assert summary["kernels"] == 1 and [f["file"] for f in summary["not_read"]] == ["b.py", "c.py"]


def test_a_repository_with_no_kernels_is_said_and_nothing_is_stored(database: Database, repository: Path) -> None:
    commit(repository, {"a.py": "import triton\nx = 1\n"})
    with pytest.raises(SourceError, match="holds no kernels"):
        run(database, str(repository))
    assert mined_sources(database) == ()


def test_a_fault_while_reading_stores_nothing(
    database: Database, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, {"a.py": norm(), "b.py": norm(name="other")})
    run(database, str(repository))
    before = mined_state(database, "made"), roles(database, "div_to_reciprocal", True)
    commit(repository, {"a.py": norm(MULTIPLIED)})
    monkeypatch.setattr(mining, "read_files", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        run(database, str(repository))
    assert (mined_state(database, "made"), roles(database, "div_to_reciprocal", True)) == before


def test_a_full_disk_is_said_and_nothing_is_half_stored(database: Database, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.py").write_text(norm())
    run(database, str(tmp_path / "s"))
    before = roles(database, "div_to_reciprocal", True)
    long = HEAD + "".join(NORM.format(name=f"norm_{i}", value=MULTIPLIED) for i in range(60))
    (tmp_path / "s" / "a.py").write_text(long)
    source = open_source(str(tmp_path / "s"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(StoreError) as raised:
            mine(source, database, jobs=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "disk" in raised.value.what
    assert roles(database, "div_to_reciprocal", True) == before
    assert mine(source, database, jobs=1).summary["techniques"]["div_to_reciprocal"]["uses"] == 60


def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    for i in range(4):
        (folder / f"k{i}.py").write_text(norm(name=f"norm_{i}") + "#" * 130_000)
    script = (
        "import os, sys\n"
        "from skel.miner import mining\n"
        "from skel.miner.sources import open_source\n"
        "real, read = mining.read_files, []\n"
        "def reading(kind, files, root):\n"
        "    read.extend(path for path, _ in files)\n"
        "    if len(read) == 3 and sys.argv[2] == 'killed': os.kill(os.getpid(), 9)\n"
        "    return real(kind, files, root)\n"
        "mining.read_files = reading\n"
        "mining.read_code(open_source(sys.argv[1]), jobs=1)\n"
        "print(len(read))\n"
    )
    words = [sys.executable, "-c", script, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    killed = subprocess.run([*words, "killed"], capture_output=True, text=True, env=environment)
    assert killed.returncode == -9, killed.stderr
    again = subprocess.run([*words, "again"], capture_output=True, text=True, env=environment, check=True)
    assert again.stdout.strip() == "2"


def test_cuda_and_triton_are_mined_together(database: Database, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.py").write_text(norm(MULTIPLIED))
    (tmp_path / "s" / "b.cu").write_text("__global__ void run(float* x) { x[0] *= rsqrtf(x[1]); }\n")
    assert run(database, str(tmp_path / "s")).summary["languages"] == {"cuda": 1, "triton": 1}
    assert {o.language for o in occurrences_of(database, "div_to_reciprocal")} == {"cuda", "triton"}


def test_claims_of_commits_are_stored_once(database: Database) -> None:
    claim = FoundClaim("c0ffee", "2026-01-01T00:00:00+00:00", "faster", "exp_to_exp2", "gain", "1.3x", {"ratio": 1.3})
    assert store_claims(database, "made", "a/b", [claim, claim]) == 1
    assert store_claims(database, "made", "a/b", [claim]) == 0
    (found,) = claims_of(database, "exp_to_exp2")
    assert (found.commit, found.statement, found.content) == ("c0ffee", "1.3x", {"ratio": 1.3})


def test_the_drawn_occurrences_were_read_and_nearly_all_are_right() -> None:
    path = Path(__file__).parent / "data" / "drawn_occurrences.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    last = max(row["draw"] for row in rows)
    for draw in range(1, last + 1):
        assert sum(row["draw"] == draw for row in rows) == 50
    right = sum(row["right"] for row in rows if row["draw"] == last)
    assert right >= 48, f"{right} of 50"
    assert all(row["note"] for row in rows if not row["right"])
