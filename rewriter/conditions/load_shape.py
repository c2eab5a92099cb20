"""Whether a load keeps its shape without its mask: it has the shape of its pointers and its mask together."""

from __future__ import annotations

import ast

from ..analysis.facts import Facts


def pointers_have_shape_of(facts: Facts, pointers: ast.expr, mask: ast.expr) -> bool:
    """True where the mask adds nothing to the shape of the pointers, in every way the kernel is compiled."""
    for events in facts.runs:
        address, given = events.values.get(pointers), events.values.get(mask)
        if address is None and given is None:
            continue
        if address is None or given is None or address.dims is None or given.dims is None:
            return False
        sizes, wanted = [d.size for d in address.dims], [d.size for d in given.dims]
        if len(wanted) > len(sizes):
            return False
        if any(a != b and b != "1" for a, b in zip(reversed(sizes), reversed(wanted), strict=False)):
            return False
    return True
