"""release_gil. Used: a C++ function called from Python releases the interpreter's lock. Symptom: a function that a
module binds spins on memory that a device or another thread writes, and does not release it.
"""

from __future__ import annotations

import re

from skel.rewriter.detectors.base import Seen

from ..expressions import line_of
from ..functions import CudaFunction, plain
from ..index import CudaDetector, Index

_RELEASE = re.compile(r"\bgil_scoped_release\b|\bPy_BEGIN_ALLOW_THREADS\b|\bPyEval_SaveThread\b")


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    if function.meaning != "nothing":
        return []
    return [Seen(line_of(node), "releases the interpreter's lock")
            for node in function.of("declaration", "expression_statement", "call_expression", "qualified_identifier")
            if _RELEASE.search(plain(node)) and not any("compound" in n.type for n in node.children)][:1]  # fmt: skip


def _opportunities(function: CudaFunction, index: Index) -> list[Seen]:
    if function.meaning != "nothing" or _uses(function, index):
        return []
    found = []
    for loop in function.of("while_statement"):
        condition, text = plain(loop.child_by_field_name("condition")), plain(loop)
        if condition in ("(true)", "(1)") and ("volatile" in text or "volatile" in plain(function.body)):
            found.append(Seen(line_of(loop), "spins on memory that others write"))
    return found


DETECTOR = CudaDetector("release_gil", _uses, _opportunities, hosts=True)
