"""What the engine makes of a text: candidates by name, or the codes of its refusals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from skel.rewriter.engine import Candidates, candidates
from skel.rewriter.engine.registry import PRIMITIVES
from skel.rewriter.result import Bug
from skel.store.load import load_skeleton
from skel.store.schema import NumericsClass, Skeleton

from .interpreting import ROOT

Settings = Mapping[str, str | int]
EVERYTHING: tuple[tuple[str, Settings], ...] = (("fuse_vtiles", {}), ("loop_tiles", {}))
"""Each skeleton with all its decisions open."""
FEW: tuple[tuple[str, Settings], ...] = (
    ("fuse_vtiles", {"form": "widen", "tile": "whole"}),
    ("fuse_vtiles", {"form": "widen", "tile": 16}),
    ("fuse_vtiles", {"form": "loop", "tile": "kept", "tiles": "all"}),
    ("fuse_vtiles", {"form": "loop", "tile": 16, "tiles": 2}),
    ("loop_tiles", {"tiles": 2}),
    ("loop_tiles", {"tiles": 3}),
    ("loop_tiles", {"tiles": "all"}),
)
"""One of each kind of decision."""

RARE = ("alignment_hints", "dot_tf32x3", "parallelise_loop", "split_k", "specialise_clone", "widen_autotune")
"""Skeletons that few kernels meet, and from which others, applied before them, take what they need."""


@dataclass
class Rewritten:
    """Texts by `SKELETON:CANDIDATE`; of each choice that gives none, its refusals' codes and lines."""

    candidates: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, list[tuple[str, tuple[int, ...]]]] = field(default_factory=dict)
    bugs: list[str] = field(default_factory=list)
    """Tracebacks of faults of our own."""


@dataclass
class Stack:
    """Skeletons applied one after the other, each to what the last one left."""

    text: str
    steps: list[tuple[str, str]] = field(default_factory=list)
    """Those that applied, with the text each one left."""
    approximate: bool = False
    refusals: dict[str, str] = field(default_factory=dict)
    """The first code of those that did not, by skeleton."""
    bugs: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return " > ".join(name for name, _ in self.steps)


@cache
def skeleton(name: str) -> Skeleton:
    """The packaged record."""
    return load_skeleton(ROOT / "skeletons" / name / "skeleton.yaml")


@cache
def others() -> tuple[str, ...]:
    """Every skeleton that rewrites, apart from those of FEW."""
    found = sorted(path.parent.name for path in (ROOT / "skeletons").glob("*/skeleton.yaml"))
    apart = {name for name, _ in FEW}
    return tuple(name for name in found if name not in apart and _rewrites(skeleton(name)))


def _rewrites(record: Skeleton) -> bool:
    return bool(record.schedule) and all(step.primitive in PRIMITIVES for step in record.schedule)


def rewrite(
    text: str, path: str, kernel: str | None = None, choices: Sequence[tuple[str, Settings]] = EVERYTHING
) -> Rewritten:
    """Every candidate of the choices, whatever its rank. Warps are left alone: the interpreter has none."""
    found = Rewritten()
    for name, settings in choices:
        record = skeleton(name)
        warps = {"num_warps": "kept"} if any(d.name == "num_warps" for d in record.decisions) else {}
        result = candidates(record, text, path, kernel, {**warps, **settings}, wide=True)
        title = ":".join([name, *(f"{k}={v}" for k, v in settings.items())])
        if isinstance(result, Bug):
            found.bugs.append(result.traceback)
        elif isinstance(result, Candidates):
            for item in result.items:
                if item.text not in found.candidates.values():
                    found.candidates[f"{name}:{item.name}"] = item.text
        else:
            found.refusals[title] = [(r.code, r.lines) for r in result.refusals]
    return found


def stack(text: str, path: str, kernel: str, names: Sequence[str]) -> Stack:
    """The skeletons in that order, each by the first of its candidates."""
    made = Stack(text)
    for name in names:
        result = candidates(skeleton(name), made.text, path, kernel)
        if isinstance(result, Bug):
            made.bugs.append(f"{name} after {made.name or 'nothing'}: {result.traceback}")
        elif isinstance(result, Candidates):
            best = result.items[0]
            made.text = best.text
            made.approximate |= NumericsClass.APPROXIMATE.join(best.numerics) == best.numerics
            made.steps.append((name, best.text))
        else:
            made.refusals[name] = result.refusals[0].code
    return made
