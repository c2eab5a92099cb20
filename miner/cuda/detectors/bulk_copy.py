"""bulk_copy. Used: memory moves by the copy engine, with `cp.async.bulk` or a library's TMA copy."""

from __future__ import annotations

import re

from skel.rewriter.detectors.base import Seen

from ..functions import CudaFunction
from ..index import CudaDetector, Index

_COPIES = re.compile(r"\bSM(?:90|100)_(?:TMA|BULK)_\w*(?:LOAD|STORE|COPY|REDUCE)\w*")
_INTRINSICS = frozenset({"cp_async_bulk", "memcpy_async_tx", "cp_async_bulk_tensor"})


def copies(function: CudaFunction, index: Index) -> list[Seen]:
    """Bulk copies in the function itself."""
    found = [Seen(line, "issues cp.async.bulk") for line, text in function.assembly if "cp.async.bulk." in text
             and ".commit_group" not in text and ".wait_group" not in text]  # fmt: skip
    for call in function.calls:
        if call.name in _INTRINSICS:
            found.append(Seen(call.line, f"calls {call.name}"))
        elif call.name == "copy" and any(_COPIES.search(text) for text in index.spelled(function, call)):
            found.append(Seen(call.line, "issues a bulk copy through a tensor map"))
    return found


def all_copies(function: CudaFunction, index: Index) -> list[Seen]:
    """Bulk copies in the function and in what it calls."""
    return index.through(function, "bulk copies", lambda one: copies(one, index))


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    return all_copies(function, index)


DETECTOR = CudaDetector("bulk_copy", _uses)
