"""A tile as a host expression: widening the expression that stands there, or writing a new one."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from .changes import Changes
from .definition import Module
from .edits import Edit, apply_edits
from .idioms import factors, identity, next_power_of_2, power_of_2_text
from .scope import reaching

TileChoice = int | Literal["whole", "divisor"]
Outcome = Literal["changed", "already", "kept", "unknown"]
"""changed: edits were made; already: the expression is the whole dimension; kept: it is the caller's own choice."""


@dataclass(frozen=True)
class NewTile:
    """The tile to be had along a dimension, and how to write it.

    `whole` is the next power of two of the dimension; `divisor` the largest power of two that divides it; a number is
    a cap on the first, or on the second where the tiles must divide the dimension.
    """

    dimension: ast.expr
    choice: TileChoice
    minimum: int = 1
    """No tile below this (a dot needs 16 lanes)."""
    must_divide: bool = False

    def text(self, module: Module, near: ast.AST) -> str:
        """Source text: one line, an atom, so that it can stand anywhere."""
        size = " ".join(module.source.segment(self.dimension).split())
        if self.choice == "divisor" or self.must_divide:
            simple = isinstance(self.dimension, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
            atom = size if simple else f"({size})"
            whole = f"({atom} & -{atom})"
        elif isinstance(self.dimension, ast.Constant) and isinstance(self.dimension.value, int):
            whole = str(1 << (self.dimension.value - 1).bit_length())
        else:
            whole = power_of_2_text(module, size, near)
        if isinstance(self.choice, int):
            whole = f"min({self.choice}, {whole.removeprefix('(').removesuffix(')') if whole[0] == '(' else whole})"
        if self.minimum > 1 and self.choice != "divisor" and not self.must_divide:
            whole = f"max({self.minimum}, {whole})"
        return whole


def widen(module: Module, node: ast.expr, tile: NewTile, changes: Changes) -> Outcome:
    """Change the expression so that it gives the new tile, touching as little of it as possible.

    `min(32, next_power_of_2(V))` loses its cap or gets another; floors `max(..., 16)` stay; each arm of a conditional
    is changed; names, constants and look-ups are replaced. "unknown" for calls and arithmetic.
    """
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            return _widen_arms(module, node, (body, orelse), tile, changes)
        case ast.Call(func=ast.Name(id="max"), args=[first, second], keywords=[]):
            return _widen_floor(module, node, first, second, tile, changes)
        case ast.Call(func=ast.Name(id="min"), args=[first, second], keywords=[]):
            return _widen_cap(module, node, first, second, tile, changes)
        case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]):
            return widen(module, inner, tile, changes)
    if _is_parameter(module, node):
        return "kept"
    if _is_whole(module, node, tile):
        return _whole_already(module, node, tile, changes)
    if isinstance(node, ast.Constant | ast.Name | ast.Attribute | ast.Subscript):
        return _replace(module, node, tile, changes)
    return "unknown"


def available(module: Module, tile: NewTile, at: ast.AST) -> bool:
    """True where the dimension's names have the same values at a place as where the grid counts them."""
    for name in (n for n in ast.walk(tile.dimension) if isinstance(n, ast.Name)):
        if reaching(module.source, name.id, at) != reaching(module.source, name.id, name):
            return False
    return True


def _widen_arms(module: Module, node: ast.expr, arms: tuple[ast.expr, ...], tile: NewTile, changes: Changes) -> Outcome:
    """Each arm of a conditional; where all come to read the same, the conditional goes."""
    outcomes: list[Outcome] = []
    texts: set[str] = set()
    inner = Changes()
    for arm in arms:
        own = Changes()
        outcomes.append(widen(module, arm, tile, own))
        start, end = module.source.span(arm)
        shifted = [Edit(e.start - start, e.end - start, e.replacement) for e in own.spans]
        texts.add(apply_edits(module.source.text[start:end], shifted))
        inner.spans += own.spans
    if "unknown" in outcomes:
        return "unknown"
    if "changed" not in outcomes:
        return "kept" if "kept" in outcomes else "already"
    if len(texts) == 1:
        changes.replace(module, node, texts.pop())
    else:
        changes.spans += inner.spans
    return "changed"


def _widen_floor(
    module: Module, node: ast.expr, first: ast.expr, second: ast.expr, tile: NewTile, changes: Changes
) -> Outcome:
    """`max(16, inner)`: the floor is the part that does not mention the dimension."""
    if tile.must_divide or tile.choice == "divisor":
        return _replace(module, node, tile, changes)
    for inner, floor in ((second, first), (first, second)):
        if isinstance(floor, ast.Constant):
            return widen(module, inner, tile, changes)
    return "unknown"


def _widen_cap(
    module: Module, node: ast.expr, first: ast.expr, second: ast.expr, tile: NewTile, changes: Changes
) -> Outcome:
    """`min(cap, inner)` where inner is the whole dimension: drop the cap, or put another."""
    if tile.must_divide or tile.choice == "divisor":
        return _replace(module, node, tile, changes)
    for inner, cap in ((second, first), (first, second)):
        if not _is_whole(module, inner, tile) or _is_whole(module, cap, tile):
            continue
        if isinstance(tile.choice, int):
            changes.replace(module, cap, str(tile.choice))
            return "changed"
        if next_power_of_2(module, _below_floor(inner)) is None:
            return _replace(module, node, tile, changes)
        changes.replace(module, node, module.source.segment(inner))
        return "changed"
    if all(_is_simple(part) for part in (first, second)):
        return _replace(module, node, tile, changes)
    return "unknown"


def _whole_already(module: Module, node: ast.expr, tile: NewTile, changes: Changes) -> Outcome:
    if tile.choice == "whole":
        return "already"
    return _replace(module, node, tile, changes)


def _replace(module: Module, node: ast.expr, tile: NewTile, changes: Changes) -> Outcome:
    if not available(module, tile, node):
        return "unknown"
    if isinstance(node, ast.Constant) and node.value == tile.choice:
        return "already"
    changes.replace(module, node, tile.text(module, node))
    return "changed"


def _is_whole(module: Module, node: ast.expr, tile: NewTile) -> bool:
    """`D`, `next_power_of_2(D)`, or either under a constant floor."""
    inner = _below_floor(node)
    argument = next_power_of_2(module, inner)
    return _same(module, inner if argument is None else argument, tile.dimension)


def _below_floor(node: ast.expr) -> ast.expr:
    match node:
        case ast.Call(func=ast.Name(id="max"), args=[ast.Constant(), inner], keywords=[]):
            return inner
        case ast.Call(func=ast.Name(id="max"), args=[inner, ast.Constant()], keywords=[]):
            return inner
    return node


def _same(module: Module, left: ast.expr, right: ast.expr) -> bool:
    """Equal by identity, or through one assignment: `v.shape[-1]` and V with `V = v.shape[-1]`."""
    if identity(module, left) == identity(module, right):
        return True
    for a, b in ((left, right), (right, left)):
        if isinstance(b, ast.Name):
            bindings = reaching(module.source, b.id, b)
            if len(bindings) == 1 and bindings[0].kind == "assign" and bindings[0].value is not None:
                if identity(module, a) == identity(module, bindings[0].value):
                    return True
    return False


def _is_parameter(module: Module, node: ast.expr) -> bool:
    if not isinstance(node, ast.Name):
        return False
    bindings = reaching(module.source, node.id, node)
    return bool(bindings) and all(b.kind == "parameter" for b in bindings)


def _is_simple(node: ast.expr) -> bool:
    return len(factors(node)) == 1 and isinstance(node, ast.Constant | ast.Name | ast.Attribute | ast.Subscript)
