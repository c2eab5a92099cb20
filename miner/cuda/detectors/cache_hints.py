"""cache_hints. Used: a load or store says how long a cache should keep it.

`cp.async.cg` is the only way to copy 16 bytes, and `ld.global.nc` alone says that nobody writes: neither is a hint.
"""

from __future__ import annotations

import re

from skel.rewriter.detectors.base import Seen

from ..functions import CudaFunction
from ..index import CudaDetector, Index

_INTRINSICS = frozenset({"__ldcs", "__ldcg", "__ldlu", "__stcs", "__stcg", "__stwt"})
_HINT = re.compile(
    r"\b(?:ld|st)\.(?:[\w:]+\.)*(?:cs|cg|lu|wt)\b|\b(?:ld|st|cp|prefetch|red)\.[\w.:]*L[12]::(?:evict_\w+|no_allocate|cache_hint)"
    r"|\bcreatepolicy\."
)


def direct(function: CudaFunction) -> list[Seen]:
    """Hints in the function itself."""
    found = [Seen(call.line, f"calls {call.name}") for call in function.calls if call.name in _INTRINSICS]
    for line, text in function.assembly:
        hint = _HINT.search(text)
        if hint is not None:
            found.append(Seen(line, f"issues {hint.group(0)}"))
    return found


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    return index.through(function, "cache hints", direct)


DETECTOR = CudaDetector("cache_hints", _uses)
