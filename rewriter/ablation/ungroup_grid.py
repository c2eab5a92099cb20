"""ungroup_grid: programs walk the tiles row by row and no longer in groups that share loads.

rewrite:  size = min(rows - first, GROUP_SIZE_M)  ->  size = min(rows - first, 1)     (and so wherever it is read)

Conditions
    - a constexpr parameter is the size of the groups: it is multiplied with a number of tiles, the program's number is
      divided by the product, the quotient times the size is where a group begins, and the minimum of the size and what
      is left is taken;
    - nothing else in the kernel reads it. Any size gives each program a tile of its own, one gives rows in order.

Numerics
    `bitwise`: another program computes the same tile.

Refuses: pattern_not_found, unknown_construct (the size is read elsewhere too).
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from skel.store.schema import NumericsClass

from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..primitives.base import Primitive
from ..reasons import refuse
from .base import not_there


def ungroup_grid(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that set the size of the groups to one. Raises Refuse."""
    parents = module.source.parents
    nodes = [n for s in kernel.node.body for n in ast.walk(s)]
    divisors = {n.right.id for n in nodes if _is_quotient(n) and isinstance(n.right, ast.Name)}
    quotients = {
        n.targets[0].id
        for n in nodes
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name) and _is_quotient(n.value)
    }
    for name in sorted(kernel.constexprs):
        uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
        sizes = [use for use in uses if _is_least(parents[use], use)]
        starts = [use for use in uses if _times(parents[use], use, quotients)]
        widths = [use for use in uses if _is_assigned(parents, use, divisors)]
        if not sizes or not starts or not widths:
            continue
        odd = [use for use in uses if use not in (*sizes, *starts, *widths)]
        if odd:
            raise refuse("unknown_construct", odd[0], construct=f"another use of {name}")
        return [Edit(*module.source.span(use), "1") for use in uses]
    raise not_there(kernel, "reorder_grid")


def _is_quotient(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)


def _is_least(parent: ast.AST, use: ast.Name) -> bool:
    """`min(rows - first, GROUP)`."""
    if not isinstance(parent, ast.Call) or len(parent.args) != 2:
        return False
    called = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", None)
    other = next(a for a in parent.args if a is not use)
    return called in ("min", "minimum") and isinstance(other, ast.BinOp) and isinstance(other.op, ast.Sub)


def _times(parent: ast.AST, use: ast.Name, names: set[str]) -> bool:
    """`group * GROUP`, where the group is a quotient."""
    if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, ast.Mult):
        return False
    other = parent.right if parent.left is use else parent.left
    return isinstance(other, ast.Name) and other.id in names


def _is_assigned(parents: dict[ast.AST, ast.AST], use: ast.Name, names: set[str]) -> bool:
    """`width = GROUP * columns`, where something is divided by the width."""
    product = parents[use]
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
        return False
    made = parents[product]
    return isinstance(made, ast.Assign) and len(made.targets) == 1 and getattr(made.targets[0], "id", None) in names


PRIMITIVE = Primitive("ungroup_grid", ungroup_grid, NumericsClass.BITWISE)
