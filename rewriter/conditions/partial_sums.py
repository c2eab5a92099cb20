"""partials_summed: per-tile slots are summed over the tiles by the launcher."""

from __future__ import annotations

import ast

from skel.store.schema import Refusal

from ..analysis.stores import Classified, StoreClass
from ..kernel.launch import Launch
from ..kernel.scope import within
from ..reasons import refusal
from .context import FusionContext


def check_partials_summed(context: FusionContext) -> list[Refusal]:
    """Refuses `partial_not_summed` for a slot store whose buffer the launching function never sums."""
    found: list[Refusal] = []
    for classified in context.lanes.stores:
        if classified.store_class is not StoreClass.SLOT or classified.access.kind != "store":
            continue
        for launch in context.launches:
            if not _summed(context, classified, launch):
                name = ", ".join(sorted(classified.access.pointer.bases))
                found.append(
                    refusal(
                        "partial_not_summed", classified.access.line, also=[launch.line], axis=context.name, name=name
                    )
                )
    return found


def _summed(context: FusionContext, classified: Classified, launch: Launch) -> bool:
    if launch.function is None:
        return False
    buffers = {ast.dump(launch.arguments[b]) for b in classified.access.pointer.bases if b in launch.arguments}
    for node in ast.walk(launch.function):
        if (
            not isinstance(node, ast.Call)
            or node.lineno < launch.line
            or within(context.module.source, node, launch.call)
        ):
            continue
        match node.func:
            case ast.Attribute(value=target, attr="sum") if ast.dump(_loaded(target)) in buffers:
                return True
            case ast.Attribute(attr="sum") if node.args and ast.dump(node.args[0]) in buffers:
                return True
    return False


def _loaded(node: ast.expr) -> ast.expr:
    return node
