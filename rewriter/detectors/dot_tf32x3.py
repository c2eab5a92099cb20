"""dot_tf32x3. Used: a dot that names its precision. Symptom: an fp32 dot without one, into a loop-carried value."""

from __future__ import annotations

import ast

from ..analysis.carried import carried_through
from ..analysis.types import TypeAnalysis
from .base import Detector, Seen
from .view import KernelView

_KEYWORDS = ("input_precision", "allow_tf32")


def _uses(view: KernelView) -> list[Seen]:
    return [
        Seen(body.at(call), f"a dot names {keyword.arg}")
        for body in view.bodies
        for call in body.called("dot")
        for keyword in call.keywords
        if keyword.arg in _KEYWORDS
    ]


def _opportunities(view: KernelView) -> list[Seen]:
    dots = [d for d in view.own.called("dot") if not _is_pinned(d)]
    if not dots or view.flow.opaque:
        return []
    types = TypeAnalysis(view.module, view.kernel, view.flow)
    return [
        Seen(d.lineno, "an fp32 dot without a precision feeds a loop-carried value")
        for d in dots
        if carried_through(view.flow, d) is not None and len(d.args) >= 2 and any(types.is_fp32(a) for a in d.args[:2])
    ]


def _is_pinned(dot: ast.Call) -> bool:
    return any(k.arg in (*_KEYWORDS, None) for k in dot.keywords) or any(isinstance(a, ast.Starred) for a in dot.args)


DETECTOR = Detector("dot_tf32x3", _uses, _opportunities)
