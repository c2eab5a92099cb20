"""bulk_copy. Used: tensor descriptors, which copy whole blocks."""

from __future__ import annotations

import ast

from .base import Detector, Seen
from .view import KernelView

_MAKERS = (
    "make_tensor_descriptor",
    "_experimental_make_tensor_descriptor",
    "_experimental_descriptor_load",
    "_experimental_descriptor_store",
    "load_tensor_descriptor",
    "store_tensor_descriptor",
)


def _uses(view: KernelView) -> list[Seen]:
    return [
        Seen(body.at(call), "copies blocks through a tensor descriptor")
        for body in view.bodies
        for call, name in body.calls
        if name in _MAKERS or (name in ("load", "store") and _of_descriptor(body.module, call))
    ]


def _of_descriptor(module, call: ast.Call) -> bool:  # type: ignore[no-untyped-def]
    """`descriptor.load([row, column])`: a method with a list of offsets."""
    return (
        isinstance(call.func, ast.Attribute)
        and module.names.dotted(call.func) is None
        and bool(call.args)
        and isinstance(call.args[0], ast.List | ast.Tuple)
    )


DETECTOR = Detector("bulk_copy", _uses)
