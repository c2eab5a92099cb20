"""What the engine makes of a text: candidates by name, or the codes of its refusals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from skel.rewriter.engine import Candidates, candidates
from skel.rewriter.result import Bug
from skel.store.load import load_skeleton
from skel.store.schema import Skeleton

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


@dataclass
class Rewritten:
    """Texts by `SKELETON:CANDIDATE`; of each choice that gives none, its refusals' codes and lines."""

    candidates: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, list[tuple[str, tuple[int, ...]]]] = field(default_factory=dict)
    bugs: list[str] = field(default_factory=list)
    """Tracebacks of faults of our own."""


@cache
def skeleton(name: str) -> Skeleton:
    """The packaged record."""
    return load_skeleton(ROOT / "skeletons" / name / "skeleton.yaml")


def rewrite(
    text: str, path: str, kernel: str | None = None, choices: Sequence[tuple[str, Settings]] = EVERYTHING
) -> Rewritten:
    """Every candidate of the choices, whatever its rank. Warps are left alone: the interpreter has none."""
    found = Rewritten()
    for name, settings in choices:
        result = candidates(skeleton(name), text, path, kernel, {"num_warps": "kept", **settings}, wide=True)
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
