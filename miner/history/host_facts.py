"""Facts of one host function that its own text shows: tile sizes and their caps, launch options, grids."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .tokens import dotted, launched

_TILE = re.compile(r"^(B[A-Z0-9]{0,3}|BLOCK\w*|[A-Z]+_?BLOCK\w*|block_[a-z]\w*)$")
_OPTIONS = frozenset({"num_warps", "num_stages"})


def host_facts(nodes: list[ast.AST]) -> set[str]:
    """Facts of a canonical host function, or of one of its statements, given all its nodes."""
    facts: set[str] = set()
    for name, value in assignments(nodes):
        facts |= set(_of_value(name, value))
    for node in nodes:
        if isinstance(node, ast.Call) and launched(node) is not None:
            assert isinstance(node.func, ast.Subscript)
            facts |= {
                f"option:{k.arg}={ast.unparse(k.value)}"
                for k in node.keywords
                if k.arg in _OPTIONS and isinstance(k.value, ast.Constant)
            }
            facts |= {f for k in node.keywords if k.arg is not None for f in _of_value(k.arg, k.value)}
            if isinstance(node.func.slice, ast.Tuple):
                facts.add(f"grid:{launched(node)}:{len(node.func.slice.elts)}")
        elif isinstance(node, ast.FunctionDef) and "grid" in node.name:
            facts |= {
                f"grid_dims:{len(r.value.elts)}"
                for r in ast.walk(node)
                if isinstance(r, ast.Return) and isinstance(r.value, ast.Tuple)
            }
    return facts


def assignments(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Every `name = value` inside, tuples taken apart."""
    for inner in nodes:
        if not isinstance(inner, ast.Assign):
            continue
        for target in inner.targets:
            if isinstance(target, ast.Name):
                yield target.id, inner.value
            elif (
                isinstance(target, ast.Tuple)
                and isinstance(inner.value, ast.Tuple)
                and len(target.elts) == len(inner.value.elts)
            ):
                for one, value in zip(target.elts, inner.value.elts, strict=True):
                    if isinstance(one, ast.Name):
                        yield one.id, value


def _of_value(name: str, value: ast.expr) -> Iterator[str]:
    if name in _OPTIONS and isinstance(value, ast.Constant):
        yield f"option:{name}={value.value!s}"
    elif "grid" in name and isinstance(value, ast.Tuple):
        yield f"grid_dims:{len(value.elts)}"
    elif "grid" in name and isinstance(value, ast.Lambda) and isinstance(value.body, ast.Tuple):
        yield f"grid_dims:{len(value.body.elts)}"
    elif _TILE.match(name):
        yield from _of_tile(name, value)


def _of_tile(name: str, value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.Constant) and isinstance(value.value, int):
        yield f"tile:{name}={value.value}"
    cap = tile_cap(value)
    if cap is not None:
        yield f"cap:{name}={cap}"
    elif any(isinstance(n, ast.Call) and "next_power" in dotted(n.func) for n in ast.walk(value)):
        yield f"cap:{name}=none"


def tile_cap(value: ast.expr) -> int | None:
    """The number in `min(next_power_of_2(V), 8)`, alone or inside a floor, in either order."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and dotted(node.func) in ("min", "tl.min", "tl.minimum"):
            numbers = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, int)]
            if len(numbers) == 1 and len(node.args) == 2:
                return int(numbers[0])
    return None
