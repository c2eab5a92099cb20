"""`python -m skel.validation.ablation.run --bundle DIR --state DIR [--seconds N]`: measures what a bundle holds.

First everything is compiled and checked, by several processes at a time; then what agrees is timed, by one alone. Goes
on where it was cut off: what is in the state is not done again. Exit status 0 where all is done, 3 where time was up.
Writes DIR/ablation.json as it is known so far.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from .cases import CASES
from .lines import Lines
from .table import table, text
from .worker import kernel_name

UNFINISHED = 3
CHECKING = 0.55
"""Part of the time that checking may take."""
TRIES = 3
"""Processes for the timing part, and rounds of workers for the checks: one that ends early is followed by another."""


def run(given: argparse.Namespace) -> bool:
    """True where all is done. Raises OSError."""
    begun = time.monotonic()
    state = Lines(given.state)
    names = [name for name in given.cases or CASES if CASES[name].source in given.sources]
    with tempfile.TemporaryDirectory(prefix="ablation-") as work:
        tree = Path(work) / "tree"
        with zipfile.ZipFile(given.bundle / "tree.zip") as archive:
            archive.extractall(tree)
        _say(f"{len(names)} cases, unpacked after {time.monotonic() - begun:.0f} s")
        _take_up(state, Path(work) / "kernels")
        deadline = begun + given.seconds
        for number in range(TRIES):
            left = _left(state, "check", names)
            if left and time.monotonic() < begun + CHECKING * given.seconds:
                _check(given, tree, Path(work), number, left, begun + CHECKING * given.seconds)
        _say(f"checked after {time.monotonic() - begun:.0f} s")
        for _ in range(TRIES):
            begun_ones = [name for name in names if not _left(state, "check", [name], done=False)]
            left = _left(state, "time", begun_ones)
            if left and time.monotonic() < deadline - 5:
                _work(given, tree, "time", left, deadline, Path(work), Path(work)).wait()
        _say(f"timed after {time.monotonic() - begun:.0f} s")
    write(given, state)
    return not _left(state, "check", names) and not _left(state, "time", names)


def write(given: argparse.Namespace, state: Lines) -> None:
    """The table as far as it is known."""
    plan = json.loads((given.bundle / "plan.json").read_text(encoding="utf-8"))
    (given.state / "ablation.json").write_text(text(table(plan, state)), encoding="utf-8")


def _left(state: Lines, phase: str, names: list[str], *, done: bool = True) -> list[str]:
    """Cases that did not come to their end; with `done` false, those without any line of that phase."""
    lines = state.all(phase)
    over = {line["case"] for line in lines if not done or line.get("done") or line.get("error")}
    return [name for name in names if name not in over]


def _take_up(state: Lines, kernels: Path) -> None:
    """Kernels stay with the cases that they were checked in before."""
    kernels.mkdir()
    cases: dict[str, list[str]] = {}
    for line in state.all("check"):
        if "kernel" in line:
            own = cases.setdefault(kernel_name(line["file"], line["kernel"]), [])
            own += [line["case"]] if line["case"] not in own else []
    for name, own in cases.items():
        for number, case in enumerate(own):
            (kernels / f"{name}@{number}").write_text(case, encoding="utf-8")


def _check(given: argparse.Namespace, tree: Path, work: Path, number: int, names: list[str], deadline: float) -> None:
    claims = work / f"claims-{number}"
    claims.mkdir()
    count = min(given.workers, len(names))
    workers = [_work(given, tree, "check", names, deadline, work, claims) for _ in range(count)]
    for worker in workers:
        try:
            worker.wait(timeout=max(1.0, deadline - time.monotonic() + 10))
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def _work(
    given: argparse.Namespace, tree: Path, phase: str, names: list[str], deadline: float, work: Path, claims: Path
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "skel.validation.ablation.worker", phase, *names]
    command += ["--work", str(work), "--claims", str(claims)]
    command += ["--bundle", str(given.bundle), "--tree", str(tree), "--state", str(given.state)]
    command += ["--device", given.device, "--timer", given.timer, "--processes", str(given.processes)]
    command += ["--seconds", str(max(1.0, deadline - time.monotonic())), *(["--small"] if given.small else [])]
    return subprocess.Popen(command, env=os.environ | dict(_settings(given)))


def _settings(given: argparse.Namespace) -> Iterator[tuple[str, str]]:
    if "TRITON_CACHE_DIR" not in os.environ:
        yield "TRITON_CACHE_DIR", str(given.state.resolve() / "triton")
    yield "OMP_NUM_THREADS", "1"
    yield "FLA_DISABLE_BACKEND_DISPATCH", "1"


def _say(words: str) -> None:
    print(words, flush=True)  # noqa: T201


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m skel.validation.ablation.run", description=__doc__)
    parser.add_argument("cases", nargs="*", help="names of cases; all where none is given")
    parser.add_argument("--bundle", type=Path, required=True, help="folder that `prepare` wrote")
    parser.add_argument("--state", type=Path, required=True, help="folder of what was found")
    parser.add_argument("--sources", nargs="+", default=["fla-core", "sglang"])
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--processes", type=int, default=14, help="compilations at a time")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--timer", default="cuda graph")
    parser.add_argument("--small", action="store_true", help="tiny shapes, for trying it without a GPU")
    given = parser.parse_args()
    return 0 if run(given) else UNFINISHED


if __name__ == "__main__":
    sys.exit(main())
