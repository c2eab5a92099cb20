"""offset_may_overflow: 32-bit products of an unbounded index and a size in an address."""

from __future__ import annotations

from skel.store.schema import Finding

from ...reasons import finding
from ..int64_offsets import risky_products
from ..view import KernelView
from .reports import place


def hazards(view: KernelView) -> list[Finding]:
    """One finding a line."""
    return [
        finding(
            "offset_may_overflow",
            place(view, line),
            severity="warning",
            line=line,
            data={"word": "hazard", "index": what, "fails_when": f"{text} >= 2**31"},
        )
        for line, what, text in risky_products(view)
    ]
