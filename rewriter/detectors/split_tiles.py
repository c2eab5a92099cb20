"""split_tiles. Used: the launcher narrows a tile for some shapes or devices, to have more programs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..conditions.fusable_axis import tile_parameter
from ..kernel.definition import Module
from ..kernel.launch import Launch
from ..kernel.scope import reaching
from ..kernel.tile import trace_tile
from ..reasons import Refuse
from .base import Detector, Seen
from .view import KernelView


def _uses(view: KernelView) -> list[Seen]:
    found = []
    for axis in view.facts.tiled_axes:
        tile = tile_parameter(view.facts, axis)
        if tile is None:
            continue
        for launch in view.launches:
            for line, test in _choices(view.module, launch, tile):
                if _is_about_shapes(test):
                    found.append(Seen(line, f"the launcher narrows {tile} for some shapes"))
    return found


def _choices(module: Module, launch: Launch, tile: str) -> Iterator[tuple[int, ast.expr]]:
    """Lines and tests where two numbers compete to be the tile."""
    try:
        binding = trace_tile(module, launch, tile)
    except Refuse:
        return
    values = [b.value for b in binding.sources if b.value is not None] + (
        [binding.argument] if binding.argument is not None else []
    )
    for value in values:
        for node in ast.walk(value):
            if isinstance(node, ast.IfExp) and _numbers(node.body, node.orelse):
                yield node.lineno, _test(module, node.test)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                for helper in module.names.functions.get(node.func.id, ()):
                    yield from _table(helper, _place(binding.sources, value))
    numeric = [b for b in binding.sources if isinstance(b.value, ast.Constant) and isinstance(b.value.value, int)]
    if len({b.value.value for b in numeric if isinstance(b.value, ast.Constant)}) > 1:
        for b in numeric:
            around = module.source.parents.get(b.statement) if b.statement is not None else None
            if isinstance(around, ast.If):
                yield b.line, around.test


def _numbers(a: ast.expr, b: ast.expr) -> bool:
    sizes = [n.value for n in (a, b) if isinstance(n, ast.Constant) and isinstance(n.value, int)]
    return len(sizes) == 2 and sizes[0] != sizes[1]


def _test(module: Module, test: ast.expr) -> ast.expr:
    """A test, or what a name that stands for it was assigned."""
    if isinstance(test, ast.Name):
        bindings = reaching(module.source, test.id, test)
        if len(bindings) == 1 and bindings[0].value is not None:
            return bindings[0].value
    return test


def _place(sources, value: ast.expr) -> int | None:  # type: ignore[no-untyped-def]
    """Which element of a returned tuple the tile is."""
    for binding in sources:
        statement = binding.statement
        if binding.value is value and isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
            names = [getattr(n, "id", None) for n in statement.targets[0].elts]
            return names.index(binding.name) if binding.name in names else None
    return None


def _table(helper: ast.FunctionDef, place: int | None) -> Iterator[tuple[int, ast.expr]]:
    """A helper that returns different tiles under different tests."""
    parents = {child: node for node in ast.walk(helper) for child in ast.iter_child_nodes(node)}
    sizes: dict[int, tuple[int, ast.expr]] = {}
    for node in ast.walk(helper):
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        arms = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
        for arm in arms:
            part = (
                arm.elts[place] if isinstance(arm, ast.Tuple) and place is not None and place < len(arm.elts) else arm
            )
            around = parents.get(node)
            if isinstance(part, ast.Constant) and isinstance(part.value, int) and isinstance(around, ast.If):
                sizes.setdefault(part.value, (node.lineno, around.test))
    if len(sizes) > 1:
        yield min(sizes.items())[1]


def _is_about_shapes(test: ast.expr) -> bool:
    """True where something is compared, not only whether a flag or an argument is there."""
    return any(
        isinstance(n, ast.Compare) and not any(isinstance(o, ast.Is | ast.IsNot) for o in n.ops) for n in ast.walk(test)
    )


DETECTOR = Detector("split_tiles", _uses)
