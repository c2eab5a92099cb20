"""strided_inputs. Used: several tensors are read out of one packed row by offsets, with the row's stride an argument,
in place of contiguous copies."""

from __future__ import annotations

import ast

from ..analysis.poly import Poly
from .base import Detector, Seen
from .view import KernelView

_PARTS = 3
"""Regions of a row that make it a packed one: query, key and value."""


def _uses(view: KernelView) -> list[Seen]:
    regions: dict[str, dict[str, int]] = {}
    for access in view.facts.loads:
        poly = access.pointer.poly
        if poly is None or len(access.pointer.bases) != 1 or not access.pointer.dims or access.path:
            continue
        base = next(iter(access.pointer.bases))
        if _has_stride(view, poly):
            regions.setdefault(base, {}).setdefault(_region(view, poly), access.line)
    return [
        Seen(min(found.values()), f"reads {len(found)} tensors out of the packed rows of {base}")
        for base, found in regions.items()
        if len(found) >= _PARTS and "" in found
    ]


def _region(view: KernelView, poly: Poly) -> str:
    """The part of an offset that only compile-time sizes make: where a region of the row begins."""
    parts = [
        f"{c}*{'*'.join(a.key for a in m)}"
        for m, c in poly.terms
        if m and all(a.kind == "sym" and a.key in view.kernel.constexprs for a in m)
    ]
    return "+".join(sorted(parts))


def _has_stride(view: KernelView, poly: Poly) -> bool:
    """An index times a stride that the launcher passes: `x.stride(0)`."""
    names = {a.key for m, _ in poly.terms if len(m) >= 2 for a in m if a.kind == "sym"}
    return any(_is_stride(view, name) for name in names)


def _is_stride(view: KernelView, name: str) -> bool:
    for launch in view.launches:
        argument = launch.arguments.get(name)
        if argument is not None and _calls_stride(view, argument):
            return True
    return False


def _calls_stride(view: KernelView, node: ast.expr) -> bool:
    from ..kernel.idioms import follow

    value = follow(view.module, node)[0]
    return any(isinstance(n, ast.Attribute) and n.attr == "stride" for n in ast.walk(value))


DETECTOR = Detector("strided_inputs", _uses)
