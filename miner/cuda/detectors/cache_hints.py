"""cache_hints. Used: a load or store says how long a cache should keep it.

`cp.async.cg` is the only way to copy 16 bytes, and `ld.global.nc` alone says that nobody writes: neither is a hint. An
instruction with `L2::cache_hint` leaves the policy to an operand: who hands the normal one to it asks for nothing.
"""

from __future__ import annotations

import re

from skel.rewriter.detectors.base import Seen

from ..functions import Call, CudaFunction, text_of
from ..index import CudaDetector, Index

_INTRINSICS = frozenset({"__ldcs", "__ldcg", "__ldlu", "__stcs", "__stcg", "__stwt"})
_HINT = re.compile(
    r"\b(?:ld|st)\.(?:[\w:]+\.)*(?:cs|cg|lu|wt)\b|\b(?:ld|st|cp|prefetch|red)\.[\w.:]*L[12]::(?:evict_\w+|no_allocate|cache_hint)"
    r"|\bcreatepolicy\."
)
_OPERAND = "L2::cache_hint"
_POLICY = re.compile(r"\bEVICT_(\w+)")


def direct(function: CudaFunction) -> list[Seen]:
    """Hints in the function itself."""
    found = [Seen(call.line, f"calls {call.name}") for call in function.calls if call.name in _INTRINSICS]
    for line, text in function.assembly:
        hint = _HINT.search(text)
        if hint is not None:
            found.append(Seen(line, f"issues {hint.group(0)}"))
    return found


def _chooses(function: CudaFunction, call: Call, target: CudaFunction) -> bool:
    """False for a call that gives, or leaves, the normal policy to a function whose hints are operands."""
    if any(not seen.why.endswith(_OPERAND) for seen in direct(target)):
        return True
    given = [_text(function, text_of(one)) for one in call.arguments]
    said = " ".join((*given, *call.template, *target.defaults[len(given) :]))
    return set(_POLICY.findall(said)) != {"NORMAL"}


def _text(function: CudaFunction, argument: str) -> str:
    """An argument, or what the function sets a name to."""
    made = (n for n in function.of("init_declarator") if text_of(n.child_by_field_name("declarator")) == argument)
    return " ".join(text_of(n.child_by_field_name("value")) for n in made) or argument


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    return index.through(function, "cache hints", direct, _chooses)


DETECTOR = CudaDetector("cache_hints", _uses)
