"""alignment_hints. Used: memory is read or written in vectors of 8 bytes or more, which states its alignment."""

from __future__ import annotations

import re

from skel.rewriter.detectors.base import Seen

from ..expressions import line_of
from ..functions import CudaFunction, call_of, plain
from ..index import CudaDetector, Index

_VECTOR = re.compile(r"(?:const\s+)?(?:volatile\s+)?(?:u?(?:int|long|longlong)|float|double)(?:2|4)(?:\s+const)?\s*\*")
_READERS = frozenset({"__ldg", "__ldcs", "__ldcg", "__stcs", "__stcg"})


def direct(function: CudaFunction) -> list[Seen]:
    """Vector accesses in the function itself: a cast pointer that is read, written or indexed."""
    found = []
    for node in function.of("call_expression"):
        call = call_of(node)
        if call is None or call.name != "reinterpret_cast" or not call.template:
            continue
        if not _VECTOR.fullmatch(call.template[0]):
            continue
        parent = node.parent
        accessed = parent is not None and (
            (parent.type == "pointer_expression" and plain(parent).startswith("*"))
            or (parent.type == "subscript_expression" and parent.child_by_field_name("argument") == node)
        )
        outer = parent.parent if parent is not None and parent.type == "argument_list" else None
        reader = call_of(outer) if outer is not None and outer.type == "call_expression" else None
        if accessed or (reader is not None and reader.name in _READERS):
            found.append(Seen(line_of(node), f"reads or writes memory as {call.template[0].rstrip('* ')}"))
    return found


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    return direct(function)


DETECTOR = CudaDetector("alignment_hints", _uses)
