"""The process is killed at any moment: the database stays whole, no file is half-written, no worker is left."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from contextlib import closing, suppress
from pathlib import Path

import psutil

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


NURSERY = textwrap.dedent("""
    import json, os, sys
    import skel.apply, skel.cli.app, skel.cli.apply, skel.cli.check, skel.cli.evidence, skel.cli.search
    import skel.rewriter.engine.apply, skel.store.database, skel.store.evidence, skel.validation.check

    for line in sys.stdin:
        child = os.fork()
        if not child:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            os._exit(skel.cli.app.main(json.loads(line)))
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)
""")
"""Runs each command it is told in a fork that has imported everything already: a kill then hits work, not imports."""


def still_running(family: list[psutil.Process]) -> list[psutil.Process]:
    """Those that have not ended after a while. One that nobody has waited for yet has ended."""
    until = time.monotonic() + 20
    while (alive := [one for one in family if works(one)]) and time.monotonic() < until:
        time.sleep(0.02)
    return alive


def works(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


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
    assert not (alive := still_running(family)), f"after {seconds:.2f} s these were left: {alive}"
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


def exported(folder: Path, count: int) -> Path:
    """A file for `skel evidence import`, of `count` pieces."""
    from datetime import UTC, datetime

    from skel.cli.app import main
    from skel.store.database import open_database
    from skel.store.evidence import add_evidence
    from skel.store.schema import Environment, Evidence, Verdict

    url, out = f"sqlite:///{folder / 'other.db'}", folder / "evidence.json"
    database = open_database(url)
    for number in range(count):
        one = Evidence(
            skeleton="div_to_reciprocal",
            kernel="k",
            file=f"{number}.py",
            source_sha256="0" * 64,
            level="numerics",
            verdict=Verdict.EQUIVALENT,
            environment=Environment(device="cpu"),
            measured_at=datetime.now(UTC),
        )
        add_evidence(database, one)
    assert main(["evidence", "export", "div_to_reciprocal", "-o", str(out), "--db", url]) == 0
    return out


def left_behind(folder: Path) -> list[str]:
    """Command lines of processes that name the folder."""
    found = []
    for process in psutil.process_iter():
        try:
            words = " ".join(process.cmdline())
        except psutil.Error:
            continue
        if str(folder) in words and process.status() != psutil.STATUS_ZOMBIE:
            found.append(words)
    return found


def test_fifty_kills_of_commands(tmp_path: Path) -> None:
    """Apply, check, import of evidence and search, each killed after a random while, on one database."""
    url, tmp = f"sqlite:///{tmp_path / 'skel.db'}", tmp_path / "tmp"
    tmp.mkdir()
    evidence, out = exported(tmp_path, 40), tmp_path / "out.py"
    text = FIXTURE.read_text(encoding="utf-8")
    commands: list[tuple[list[str], float, float]] = [
        (["evidence", "import", str(evidence), "--db", url], 0.0, 0.3),
        (["search", "division in the loop", "--db", url], 0.0, 0.3),
        (["apply", "div_to_reciprocal", str(FIXTURE), "--no-bench", "-o", str(out), "--db", url], 0.0, 2.0),
        (["evidence", "import", str(evidence), "--db", url], 0.0, 0.3),
        (["check", str(FIXTURE), str(FIXTURE), "--db", url], 0.0, 2.0),
    ]
    nursery = subprocess.Popen(
        [sys.executable, "-c", NURSERY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp)},
    )
    assert nursery.stdin is not None and nursery.stdout is not None
    chance, killed = random.Random(50), 0
    for number in range(50):
        words, least, most = commands[number % len(commands)]
        nursery.stdin.write(json.dumps(words) + "\n")
        nursery.stdin.flush()
        child = psutil.Process(int(nursery.stdout.readline()))
        time.sleep(chance.uniform(least, most))
        family: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess):  # it may have come to its end by itself
            family = child.children(recursive=True)
            child.send_signal(signal.SIGKILL)
        killed += int(nursery.stdout.readline()) == signal.SIGKILL
        assert not (alive := still_running(family)), (words, alive)
        if out.exists():
            assert out.read_text(encoding="utf-8").rstrip().endswith(text.rstrip().splitlines()[-1]), words
        if (tmp_path / "skel.db").exists():
            with closing(sqlite3.connect(tmp_path / "skel.db")) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",), words
    nursery.stdin.close()
    assert nursery.wait(20) == 0 and killed > 25, killed
    assert not left_behind(tmp_path)
    assert set(numbers_in(tmp_path)) <= set(range(40))
    from skel.cli.app import main

    assert main(["evidence", "import", str(evidence), "--db", url]) == 0
    assert sorted(numbers_in(tmp_path)) == list(range(40)), "what was half-way is brought to its end"


def test_a_few_random_kills(tmp_path: Path) -> None:
    kill_many(tmp_path, 6, 2.0)
