"""Host idioms by meaning: ceiling division, next power of two, and when two host expressions have the same value."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass

from .definition import Module
from .scope import Binding, reaching

_CEILING = frozenset({"cdiv", "ceil_div", "ceildiv", "ceil_divide"})
_POWER = frozenset({"next_power_of_2", "next_pow2", "next_power_of_two", "next_pow_2"})
_DEPTH = 8
"""How many names are followed before a chain of assignments counts as unknown."""


@dataclass(frozen=True)
class Division:
    """`dimension / tile` rounded up, or down where `floor`."""

    node: ast.expr
    dimension: ast.expr
    tile: ast.expr
    floor: bool


def dotted_at(module: Module, expression: ast.expr) -> str | None:
    """Dotted name of a Name or Attribute chain, imports inside the enclosing function included; None where shadowed."""
    base: ast.expr = expression
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(base, ast.Name):
        return None
    bindings = reaching(module.source, base.id, base)
    if all(b.statement in module.source.tree.body for b in bindings):
        return module.names.dotted(expression) or (base.id if expression is base and not bindings else None)
    if len(bindings) != 1 or bindings[0].kind != "import":
        return module.names.dotted(expression) if all(_at_module_level(module, b) for b in bindings) else None
    alias, statement = bindings[0].node, bindings[0].statement
    assert isinstance(alias, ast.alias)
    if isinstance(statement, ast.ImportFrom):
        root = "." * statement.level + f"{statement.module or ''}.{alias.name}"
    else:
        root = alias.name if alias.asname else alias.name.split(".")[0]
    return root + ast.unparse(expression)[len(base.id) :]


def ceiling_division(module: Module, node: ast.expr) -> Division | None:
    """`cdiv(D, T)`, `(D + T - 1) // T`, `-(-D // T)`, `-(D // -T)`, `(D - 1) // T + 1`, `math.ceil(D / T)`.

    Also the floor division `D // T`, marked as such.
    """
    match node:
        case ast.Call(args=[dimension, tile], keywords=[]) if _is(module, node.func, _CEILING):
            return Division(node, dimension, tile, False)
        case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]):
            return ceiling_division(module, inner)
        case ast.Call(args=[ast.BinOp(left=dimension, op=ast.Div(), right=tile)], keywords=[]) if (
            dotted_at(module, node.func) == "math.ceil"
        ):
            return Division(node, dimension, tile, False)
        case ast.UnaryOp(
            op=ast.USub(),
            operand=ast.BinOp(left=ast.UnaryOp(op=ast.USub(), operand=dimension), op=ast.FloorDiv(), right=tile),
        ):
            return Division(node, dimension, tile, False)
        case ast.UnaryOp(
            op=ast.USub(),
            operand=ast.BinOp(left=dimension, op=ast.FloorDiv(), right=ast.UnaryOp(op=ast.USub(), operand=tile)),
        ):
            return Division(node, dimension, tile, False)
        case ast.BinOp(
            left=ast.BinOp(
                left=ast.BinOp(left=dimension, op=ast.Sub(), right=ast.Constant(value=1)), op=ast.FloorDiv(), right=tile
            ),
            op=ast.Add(),
            right=ast.Constant(value=1),
        ):
            return Division(node, dimension, tile, False)
        case ast.BinOp(left=above, op=ast.FloorDiv(), right=tile):
            whole = _rounded_up(above, tile)
            return Division(node, whole or above, tile, whole is None)
    return None


def next_power_of_2(module: Module, node: ast.expr) -> ast.expr | None:
    """The argument where the node is a call of some `next_power_of_2`, else None."""
    match node:
        case ast.Call(args=[argument], keywords=[]) if _is(module, node.func, _POWER):
            return argument
    return None


def spell(module: Module, function: str, near: ast.AST) -> str | None:
    """How the file would write `triton.<function>`; `near` is where, for imports inside functions. None: no way."""
    for name, dotted in module.names.imported.items():
        if dotted == f"triton.{function}":
            return name
    for name, dotted in module.names.imported.items():
        if dotted == "triton":
            return f"{name}.{function}"
    local = reaching(module.source, "triton", near)
    if local and all(b.kind == "import" for b in local):
        return f"triton.{function}"
    for name, dotted in module.names.imported.items():
        if dotted.split(".")[-1] == function and not dotted.startswith("triton.language"):
            return name
    return function if function in module.names.functions else None


def power_of_2_text(module: Module, dimension: str, near: ast.AST) -> str:
    """Source text for the next power of two of a dimension; plain Python where the file has no Triton name for it."""
    name = spell(module, "next_power_of_2", near)
    if name is None:
        size = dimension if dimension.isidentifier() else f"({dimension})"
        return f"(1 << ({size} - 1).bit_length())"
    return f"{name}({dimension})"


def ceiling_text(module: Module, above: str, below: str, near: ast.AST) -> str:
    """Source text for `above / below` rounded up."""
    name = spell(module, "cdiv", near)
    return f"-(-({above}) // ({below}))" if name is None else f"{name}({above}, {below})"


def identity(module: Module, node: ast.expr, call_site: ast.AST | None = None, depth: int = _DEPTH) -> Hashable:
    """A key that two host expressions share only where they have the same value.

    Names are followed through single plain assignments to other names; otherwise a name stands for the set of bindings
    that reach it, so that two names that happen to hold the same constant differ. `call_site` is where the function
    around `node` is called (`reaching`).
    """
    if isinstance(node, ast.Constant):
        return ("constant", type(node.value).__name__, node.value)
    if isinstance(node, ast.Name):
        bindings = reaching(module.source, node.id, node, call_site)
        if not bindings:
            return ("builtin", node.id)
        value = bindings[0].value
        if len(bindings) == 1 and bindings[0].kind == "assign" and depth and isinstance(value, ast.Name):
            return identity(module, value, None, depth - 1)
        return ("name", node.id, frozenset(id(b.node) for b in bindings))
    children = tuple(_field(module, value, call_site, depth) for _, value in ast.iter_fields(node))
    return (type(node).__name__, children)


def follow(module: Module, node: ast.expr, call_site: ast.AST | None = None) -> tuple[ast.expr, tuple[Binding, ...]]:
    """Follow a name through single plain assignments to its value; the bindings passed, in order."""
    passed: list[Binding] = []
    while isinstance(node, ast.Name) and len(passed) < _DEPTH:
        bindings = reaching(module.source, node.id, node, call_site if not passed else None)
        if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].value is None:
            break
        passed.append(bindings[0])
        node = bindings[0].value
    return node, tuple(passed)


def constant_value(module: Module, node: ast.expr, call_site: ast.AST | None = None) -> object:
    """The number that a literal, or a name assigned once, stands for; None where there is none."""
    value, _ = follow(module, node, call_site)
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, int) else None


def factors(node: ast.expr) -> tuple[ast.expr, ...]:
    """The factors of a product, left to right; the node itself where it is none."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return (*factors(node.left), *factors(node.right))
    return (node,)


def _field(module: Module, value: object, call_site: ast.AST | None, depth: int) -> Hashable:
    if isinstance(value, ast.expr):
        return identity(module, value, call_site, depth)
    if isinstance(value, list):
        return tuple(_field(module, v, call_site, depth) for v in value)
    if isinstance(value, ast.AST):
        if isinstance(value, ast.expr_context):
            return "context"
        return (type(value).__name__, tuple(_field(module, v, call_site, depth) for _, v in ast.iter_fields(value)))
    return repr(value)


def _is(module: Module, function: ast.expr, names: frozenset[str]) -> bool:
    dotted = dotted_at(module, function)
    if dotted is not None:
        return dotted.split(".")[-1] in names
    if isinstance(function, ast.Name) and (names is _CEILING or function.id in names):
        # A helper of the file itself counts by what its body returns; a power of two also by its name, since its body
        # may take several statements.
        bindings = reaching(module.source, function.id, function)
        return bool(bindings) and all(
            isinstance(b.node, ast.FunctionDef) and _returns(module, b.node, names) for b in bindings
        )
    return False


def _returns(module: Module, definition: ast.FunctionDef, names: frozenset[str]) -> bool:
    if names is _POWER:
        calls = [n for n in ast.walk(definition) if isinstance(n, ast.Call)]
        return any(
            isinstance(c.func, ast.Attribute)
            and (c.func.attr == "bit_length" or dotted_at(module, c.func) is not None)
            and c.func.attr in (*_POWER, "bit_length")
            for c in calls
        )
    body = [s for s in definition.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    arguments = [a.arg for a in definition.args.args]
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return False
    helpers = module.names.functions
    if any(isinstance(n, ast.Name) and n.id in helpers for n in ast.walk(body[0].value)):
        return False
    division = ceiling_division(module, body[0].value)
    if division is None or division.floor:
        return False
    return [p.id for p in (division.dimension, division.tile) if isinstance(p, ast.Name)] == arguments


def _rounded_up(above: ast.expr, tile: ast.expr) -> ast.expr | None:
    """D where `above` is `D + T - 1`, `D + (T - 1)`, `T + D - 1`, `T - 1 + D`, or with literals `D + 31` for T = 32."""
    terms: list[tuple[int, ast.expr]] = []
    _terms(above, 1, terms)
    rest: list[ast.expr] = []
    tiles = ones = 0
    for sign, term in terms:
        if sign == 1 and ast.dump(term) == ast.dump(tile):
            tiles += 1
        elif isinstance(term, ast.Constant) and isinstance(term.value, int) and sign == -1 and term.value == 1:
            ones += 1
        elif (
            isinstance(tile, ast.Constant)
            and isinstance(tile.value, int)
            and isinstance(term, ast.Constant)
            and sign == 1
            and term.value == tile.value - 1
        ):
            tiles, ones = tiles + 1, ones + 1
        elif sign == 1:
            rest.append(term)
        else:
            return None
    return rest[0] if len(rest) == 1 and tiles == 1 and ones == 1 else None


def _terms(node: ast.expr, sign: int, into: list[tuple[int, ast.expr]]) -> None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        _terms(node.left, sign, into)
        _terms(node.right, sign if isinstance(node.op, ast.Add) else -sign, into)
    else:
        into.append((sign, node))


def _at_module_level(module: Module, binding: Binding) -> bool:
    node: ast.AST | None = binding.statement
    while node is not None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and node is not binding.statement:
            return False
        node = module.source.parents.get(node)
    return binding.statement is not None
