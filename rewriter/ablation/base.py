"""What an inverse is, and the refusal where there is nothing to undo."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ..kernel.definition import KernelDef
from ..kernel.edits import Edit
from ..kernel.source import SourceFile
from ..primitives.base import Primitive
from ..reasons import Refuse, refuse


@dataclass(frozen=True)
class Inverse:
    """A primitive that takes a technique out, with the arguments it is applied with."""

    name: str
    technique: str
    """Name of the skeleton whose technique it takes out."""
    primitive: Primitive
    arguments: Mapping[str, object] = field(default_factory=dict)


def not_there(kernel: KernelDef, technique: str) -> Refuse:
    """The refusal of a kernel that does not use the technique."""
    return refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton=technique)


def removed_keywords(source: SourceFile, call: ast.Call, keywords: Collection[ast.keyword]) -> list[Edit]:
    """The edits that take keyword arguments out of a call, each with the comma that joins it to its neighbour.

    Raises Refuse(unknown_construct) where a comment stands between the two.
    """
    items = sorted((*call.args, *call.keywords), key=lambda item: source.span(item))
    edits: list[Edit] = []
    kept_before = False
    for number, item in enumerate(items):
        if item not in keywords:
            kept_before = True
            continue
        start, end = source.span(item)
        if kept_before:
            last = source.span(items[number - 1])[1]
            between = source.text[last:start]
            _no_comment(call, between)
            edits.append(Edit(last + between.rindex(","), end, ""))
        else:
            after = source.span(items[number + 1])[0] if number + 1 < len(items) else source.span(call)[1] - 1
            _no_comment(call, source.text[end:after])
            edits.append(Edit(start, after, ""))
    return edits


def _no_comment(call: ast.Call, between: str) -> None:
    if "#" in between:
        raise refuse("unknown_construct", call, construct="a comment between arguments")
