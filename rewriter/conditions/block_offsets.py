"""Offsets of block pointers that are plainly not negative, so that no access needs to ask."""

from __future__ import annotations

import ast

from ..analysis.flow import Flow
from ..analysis.operators import operation
from ..kernel.definition import KernelDef, Module

_GROWING = (ast.Add, ast.Mult, ast.FloorDiv, ast.Mod)


def pointer_only_grows(module: Module, flow: Flow, kernel: KernelDef, node: ast.expr, depth: int = 8) -> bool:
    """True for an offset that is plainly not negative: sums and products of program ids, numbers and tile sizes."""
    match node:
        case ast.Constant(value=int() as value):
            return value >= 0
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _GROWING):
            return all(pointer_only_grows(module, flow, kernel, n, depth) for n in (left, right))
        case ast.Call():
            name = operation(module, flow, node)
            if name in ("to", "cast") and isinstance(node.func, ast.Attribute) and name == "to":
                return pointer_only_grows(module, flow, kernel, node.func.value, depth)
            return name == "program_id"
        case ast.Name():
            made = flow.reaching.get(node)
            if made is None or depth == 0:
                return False
            if made.kind == "parameter":
                return made.name in _tile_sizes(module, flow, kernel)
            if made.kind == "assign" and made.value is not None:
                return pointer_only_grows(module, flow, kernel, made.value, depth - 1)
    return False


def _tile_sizes(module: Module, flow: Flow, kernel: KernelDef) -> frozenset[str]:
    """Constexpr parameters that size a block somewhere, so that they are above zero."""
    sizes: set[str] = set()
    for node in ast.walk(kernel.node):
        if not isinstance(node, ast.Call):
            continue
        name = operation(module, flow, node)
        if name == "arange":
            sizes |= {a.id for a in node.args if isinstance(a, ast.Name)}
        if name == "make_block_ptr":
            part = node.args[4] if len(node.args) > 4 else None
            part = next((k.value for k in node.keywords if k.arg == "block_shape"), part)
            sizes |= {e.id for e in getattr(part, "elts", []) if isinstance(e, ast.Name)}
    return frozenset(sizes & kernel.constexprs)
