"""div_to_reciprocal. Used: a reciprocal square root. Symptom: something is divided by a square root."""

from __future__ import annotations

from skel.rewriter.detectors.base import Seen

from ..expressions import bare, binaries, line_of
from ..functions import CudaFunction, call_of
from ..index import CudaDetector, Index

_ROOTS = frozenset({"sqrtf", "sqrt", "__fsqrt_rn"})


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    calls = function.called("rsqrtf", "rsqrt", "__frsqrt_rn")
    found = [Seen(call.line, "takes a reciprocal square root") for call in calls]
    return found + [Seen(line, "issues rsqrt.approx") for line, text in function.assembly if "rsqrt.approx" in text]


def _opportunities(function: CudaFunction, index: Index) -> list[Seen]:
    found = []
    for node, _, right in binaries(function, "/"):
        divisor = bare(right)
        call = call_of(divisor) if divisor.type == "call_expression" else None
        if call is not None and call.name in _ROOTS:
            found.append(Seen(line_of(node), "divides by a square root"))
    return found


DETECTOR = CudaDetector("div_to_reciprocal", _uses, _opportunities)
