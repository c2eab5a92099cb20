"""The process is killed at any moment: the database stays whole, no file is half-written, no worker is left."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
FIXTURE = ROOT / "tests" / "validation" / "fixtures" / "row_norm.py"
SCRIPT = textwrap.dedent("""
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from skel.files import write_whole
    from skel.store.database import open_database
    from skel.store.evidence import add_evidence
    from skel.store.schema import Environment, Evidence
    from skel.validation.check import check
    from skel.validation.isolation import Workers

    database, target, out = open_database(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    text = target.read_text()
    with Workers("interpret") as workers:
        print(workers.scratch, flush=True)
        for number in range(1000):
            add_evidence(database, Evidence(
                skeleton="div_to_reciprocal", kernel="k", file=f"{number}.py", source_sha256="0" * 64, level="numerics",
                verdict="equivalent", environment=Environment(device="cpu"), measured_at=datetime.now(UTC)))
            write_whole(out, f"# {number} {'x' * 200_000} end")
            if number % 10 == 9:
                check(text, [text], str(target), workers=workers)
""")


def kill_once(folder: Path, seconds: float, working: bool) -> None:
    """Starts the script, kills it after a while (counted from when it works, or from its start), looks at what it
    left."""
    url, out, tmp = f"sqlite:///{folder / 'skel.db'}", folder / "out.py", folder / "tmp"
    tmp.mkdir(exist_ok=True)
    main = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, url, str(FIXTURE), str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp)},
    )
    assert main.stdout is not None
    scratch = main.stdout.readline().strip() if working else ""
    time.sleep(seconds)
    family = psutil.Process(main.pid).children(recursive=True)
    main.send_signal(signal.SIGKILL)
    main.wait(20)
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive, f"after {seconds:.2f} s these were left: {alive}"
    if scratch := scratch or main.stdout.readline().strip():
        assert not Path(scratch).exists(), f"after {seconds:.2f} s the scratch folder was left"
    if out.exists():
        text = out.read_text(encoding="utf-8")
        assert text.startswith("# ") and text.endswith(" end"), f"after {seconds:.2f} s a file was half-written"
    if (folder / "skel.db").exists():
        with closing(sqlite3.connect(folder / "skel.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def numbers_in(folder: Path) -> list[int]:
    from skel.store.database import open_database
    from skel.store.evidence_query import all_evidence

    found = all_evidence(open_database(f"sqlite:///{folder / 'skel.db'}"))
    names = [one.file.removesuffix(".py") for _, one in found]
    return [int(name) for name in names if name.isdigit()]  # the others ship with the records


def kill_many(folder: Path, count: int, longest: float) -> None:
    chance = random.Random(count)
    for number in range(count):
        kill_once(folder, chance.uniform(0.05, longest), number % 4 != 0)
    assert set(numbers_in(folder)) == set(range(max(numbers_in(folder)) + 1)), "what was stored is all there"


def test_a_few_random_kills(tmp_path: Path) -> None:
    kill_many(tmp_path, 8, 2.0)


@pytest.mark.slow
def test_fifty_random_kills(tmp_path: Path) -> None:
    kill_many(tmp_path, 50, 8.0)
