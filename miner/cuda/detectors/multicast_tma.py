"""multicast_tma. Used: one load fills the shared memory of several CTAs of a cluster.

A helper that multicasts only when told to (`num_tma_multicast != 1`) is a use where a caller tells it something other
than a literal 1. Kernels for sm_100 and later are left out: there such helpers load for two CTAs without multicast.
"""

from __future__ import annotations

import re
from functools import lru_cache

from skel.rewriter.detectors.base import Seen

from ..expressions import bare, inside, names_in
from ..functions import CudaFunction, text_of
from ..index import CudaDetector, Index

_MULTICAST = re.compile(r"MULTICAST")
_DEPTH = 3


def _direct(function: CudaFunction, index: Index) -> list[tuple[int, object]]:
    found: list[tuple[int, object]] = []
    for node in function.of("gnu_asm_expression"):
        if b".multicast::cluster" in (node.text or b""):
            found.append((node.start_point[0] + 1, node))
    for call in function.calls:
        if call.name == "copy" and any(_MULTICAST.search(t.split("<")[0]) for t in index.spelled(function, call)):
            found.append((call.line, call.node))
    return found


@lru_cache(maxsize=4096)
def _gates(function: CudaFunction, index: Index, depth: int = _DEPTH) -> frozenset[int]:
    """Positions of the parameters that decide whether the function multicasts."""
    found: set[int] = set()
    for _, node in _direct(function, index):
        parent = node.parent  # type: ignore[attr-defined]
        while parent is not None and inside(parent, function.body):
            if parent.type == "if_statement":
                names = names_in(parent.child_by_field_name("condition"))
                found |= {i for i, name in enumerate(function.parameters) if name in names}
            parent = parent.parent
    if depth:
        for call, targets in index.reached(function):
            for target in targets:
                for gate in _gates(target, index, depth - 1):
                    if gate < len(call.arguments) and text_of(call.arguments[gate]) in function.parameters:
                        found.add(function.parameters.index(text_of(call.arguments[gate])))
    return frozenset(found)


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    found = [Seen(line, "one load fills the shared memory of every CTA of the cluster") for line, _ in
             _direct(function, index)]  # fmt: skip
    if not function.is_kernel or _needs(function) >= 1000:
        return found
    for call, targets in index.reached(function):
        for target in targets:
            for gate in _gates(target, index):
                told = call.arguments[gate] if gate < len(call.arguments) else None
                if told is not None and text_of(bare(told)) not in ("1", "1u"):
                    found.append(Seen(call.line, f"{call.name} loads for as many CTAs as {text_of(told)} says"))
    return found


def _needs(function: CudaFunction) -> int:
    """The architecture that the kernel's body is compiled for, as `__CUDA_ARCH__` counts; 0 where it does not say."""
    head = function.body.text[:400].decode("utf-8", "replace") if function.body.text else ""
    found = re.search(r"__CUDA_ARCH__\s*>=\s*(\d+)", head)
    return int(found.group(1)) if found else 0


DETECTOR = CudaDetector("multicast_tma", _uses)
