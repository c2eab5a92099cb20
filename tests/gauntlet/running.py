"""One file of a capture: what the rewriter makes of it, run and compiled against the original in other processes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skel.rewriter.kernel.definition import load_module
from skel.validation.workloads import subject_of
from skel.validation.workloads.capture.archive import Capture
from skel.validation.workloads.slices import sliced_text
from skel.validation.workloads.target import read_declared

from .capturing import environment, families
from .rewriting import Variant, single, variants
from .sources import PACKAGES, ROOT, unpacked

SIDECARS = (ROOT / "examples" / "sidecars", ROOT / "tests" / "gauntlet" / "workloads" / "sidecars")
CALLS = 2
"""Calls of one launcher that are made again."""
SECONDS = 2400
"""For one piece: what is not reached by then is `slow`, which says nothing of it."""
BAD = ("differs", "error", "bounds", "died", "failed")
LATE = "late"
INTERPRET, COMPILE = "interpret", "compile"


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, the calls of a capture that launch its kernels, and whether they are interpreted or compiled."""

    package: str
    capture: Path
    module: str
    path: str
    calls: tuple[tuple[int, str, tuple[str, ...]], ...]
    """Number, kind, and the kernels of the file that it launches."""
    work: Path
    how: str = INTERPRET
    seconds: float = SECONDS

    @property
    def is_sidecar(self) -> bool:
        return self.capture.suffix == ".py"

    @property
    def key(self) -> str:
        return f"{self.package}/{self.path} of {self.capture.stem}: {self.how}"


def pieces(work: Path, seconds: float = SECONDS) -> list[Piece]:
    """Every sidecar, and every file of every capture that is there, first to be interpreted and then to be compiled. A
    kernel that one capture launches is not run again by another.

    Files that no piece before has run come first, those with more kernels a call before the others: a run that is
    ended has seen as many different kernels as it could."""
    found = sidecar_pieces(work)
    seen: set[tuple[str, str, str]] = set()
    for one in families(work):
        if one.file.exists():
            found += _pieces(one.package, one.file, work, seen)
    found = [replace(piece, seconds=seconds) for piece in _new_first(found)]
    return [replace(piece, how=how) for how in (INTERPRET, COMPILE) for piece in found]


def _new_first(found: list[Piece]) -> list[Piece]:
    places: set[tuple[str, str]] = set()
    new, old = [], []
    for piece in found:
        own = {(piece.path, kernel) for _, _, kernels in piece.calls for kernel in kernels}
        (new if piece.is_sidecar or own - places else old).append(piece)
        places |= own
    return sorted(new, key=_calls_a_kernel) + old


def _calls_a_kernel(piece: Piece) -> float:
    if piece.is_sidecar:
        # Their kernels are not known before; they have few, and several workloads.
        return 1.5
    return len(piece.calls) / max(1, len({kernel for _, _, kernels in piece.calls for kernel in kernels}))


def sidecar_pieces(work: Path) -> list[Piece]:
    """One for each sidecar of SIDECARS that is for one of the packages."""
    found = []
    for file in sorted(f for folder in SIDECARS for f in folder.glob("*.py")):
        declared = read_declared(file.read_text(encoding="utf-8"), str(file))
        package = (declared.package or "").replace("-", "_").replace("==", "-")
        if package in PACKAGES:
            found.append(Piece(package, file, "", declared.target, ((0, "sidecar", ()),), work))
    return found


def _pieces(package: str, file: Path, work: Path, seen: set[tuple[str, str, str]]) -> list[Piece]:
    capture = Capture(file)
    mark = f"/sources/{package}/"
    launches = {one["launch"]: one for one in capture.launches}
    calls: dict[str, list[tuple[int, str, tuple[str, ...]]]] = defaultdict(list)
    modules: dict[str, str] = {}
    used: dict[tuple[str, str], int] = defaultdict(int)
    for call in capture.calls:
        _, inside, path = call["file"].partition(mark)
        if not inside:
            continue
        own = {launches[n]["kernel"] for n in call["launches"] if launches[n]["file"] == call["file"]}
        new = {kernel for kernel in own if (package, path, kernel) not in seen}
        if not own or used[path, call["name"]] >= CALLS or (not new and not used[path, call["name"]]):
            continue
        used[path, call["name"]] += 1
        calls[path].append((call["call"], call["kind"], tuple(sorted(own))))
        modules[path] = call["module"]
    for path, held in calls.items():
        seen |= {(package, path, kernel) for _, _, own in held for kernel in own}
    return [Piece(package, file, modules[path], path, tuple(held), work) for path, held in sorted(calls.items())]


def run_piece(piece: Piece) -> dict[str, Any]:
    """What came of the original and of every variant, interpreted or compiled for sm_90."""
    until = time.monotonic() + piece.seconds
    file = unpacked(piece.package, piece.work) / piece.path
    text = file.read_bytes().decode("utf-8")
    kernels = sorted({kernel for _, _, own in piece.calls for kernel in own})
    if piece.is_sidecar:
        # The slice says which kernels there are: those that its launchers reach.
        kernels = [
            k.name
            for k in load_module(sliced_text(subject_of(text, str(file), str(piece.capture))), str(file)).kernels
            if k.is_entry
        ]
        piece = replace(piece, calls=((0, "sidecar", tuple(kernels)),))
    made = variants(text, str(file), kernels)
    record: dict[str, Any] = {"package": piece.package, "path": piece.path, "kernels": kernels}
    record["variants"] = {v.name: {"steps": v.steps, "host": v.host} for v in made}
    record["calls"] = [list(call) for call in piece.calls]
    results = replay(piece, made, until)
    wrong = [v for v in made if results.get(v.name, {}).get("is") in BAD and len(v.steps) > 1]
    for variant in wrong:
        results |= replay(piece, single(text, str(file), variant.steps), until)
    record[piece.how] = results
    if piece.is_sidecar:
        # A slice may hold kernels that the sidecar's workloads do not launch.
        launched = results.get("original:0", {}).get("launched", [])
        record["calls"] = [[0, "sidecar", [kernel for kernel in kernels if kernel in launched]]]
    record["seconds"] = round(piece.seconds - (until - time.monotonic()), 1)
    return record


def replay(piece: Piece, made: list[Variant], until: float) -> dict[str, Any]:
    """Results by text. Where a text ends the process, that is its result, and the others follow in another; what is
    not reached by `until` is `slow`."""
    job: dict[str, Any] = {"capture": str(piece.capture), "module": piece.module}
    job["calls"] = [number for number, _, _ in piece.calls]
    if piece.is_sidecar:
        file = unpacked(piece.package, piece.work) / piece.path
        text = file.read_bytes().decode("utf-8")
        job["subject"] = subject_of(text, str(file), str(piece.capture)).to_dict()
    job["variants"] = [_job(piece, v) for v in made]
    names = [f"original:{n}" for n in job["calls"]] + [v.name for v in made]
    results: dict[str, Any] = {}
    lost: dict[str, Any] = {}
    while left := [name for name in names if name not in results and name not in lost]:
        if time.monotonic() >= until:
            lost |= {name: {"is": "slow", "why": f"not reached in {piece.seconds:.0f} s"} for name in left}
            break
        said, death = _process(piece, until, {**job, "skip": list(lost) + [n for n in results if ":" not in n[:9]]})
        results |= {one.pop("text"): one for one in said}
        if death is None:
            break
        if death == LATE:
            continue
        if not said:
            # The package itself cannot be imported there, or its first call ends the process: once more would not help.
            lost |= {name: {"is": "died", "why": death} for name in left}
            break
        first = next((name for name in left if name not in results), None)
        if first is not None:
            lost[first] = {"is": "died", "why": death}
        job["variants"] = [v for v in job["variants"] if v["name"] not in results]
    return results | lost


def _job(piece: Piece, variant: Variant) -> dict[str, Any]:
    """A recorded launch is repeated as it was: it says nothing of a variant that launches in another way."""
    wanted = {kernel for _, kernel in variant.steps}
    judged = [n for n, kind, own in piece.calls if wanted & set(own) and not (variant.host and kind == "kernel")]
    return {"name": variant.name, "text": variant.text, "approximate": variant.approximate, "calls": judged}


def _process(piece: Piece, until: float, job: dict[str, Any]) -> tuple[list[dict[str, Any]], str | None]:
    with tempfile.TemporaryDirectory() as cache:
        more = {"TRITON_INTERPRET": "1"} if piece.how == INTERPRET else {"TRITON_CACHE_DIR": cache}
        try:
            done = subprocess.run(
                [sys.executable, "-m", "tests.gauntlet.replaying", piece.how],
                input=json.dumps(job), text=True, capture_output=True, check=False,
                timeout=max(1.0, until - time.monotonic()),
                env=environment(piece.package, piece.work, **more), cwd=Path(__file__).resolve().parents[2],
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            output = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
            return [json.loads(line) for line in output.splitlines() if line.endswith("}")], LATE
    said = [json.loads(line) for line in done.stdout.splitlines() if line.endswith("}")]
    return said, f"status {done.returncode}: {done.stderr[-600:]}" if done.returncode else None
