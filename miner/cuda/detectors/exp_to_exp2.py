"""exp_to_exp2. Used: base-2 exponentials of values scaled by log2(e), as a constant of the file."""

from __future__ import annotations

from skel.rewriter.detectors.base import Seen

from ..functions import CudaFunction, text_of
from ..index import CudaDetector, Index

_CALLS = frozenset({"exp2f", "exp2", "fast_exp2f", "ex2_approx"})
_SCALE = ("1.4426", "M_LOG2E", "LOG2E", "Log2E", "log2e")


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    text = text_of(function.node)
    if not any(sign in text for sign in _SCALE):
        return []
    found = [Seen(call.line, f"calls {call.name} on a scaled value") for call in function.calls if call.name in _CALLS]
    return found + [Seen(line, "issues ex2") for line, code in function.assembly if "ex2.approx" in code]


DETECTOR = CudaDetector("exp_to_exp2", _uses)
