"""Host expressions that may be written twice: they are cheap, and looking at them changes nothing."""

from __future__ import annotations

import ast

from .definition import Module
from .grid import grid_site
from .idioms import dotted_at
from .launch import Launch
from .scope import reaching

_METHODS = frozenset({"stride", "size", "numel", "dim", "element_size", "nelement", "data_ptr", "is_contiguous"})
_FUNCTIONS = frozenset({"cdiv", "ceil_div", "next_power_of_2", "min", "max", "len", "int", "bool", "float", "abs"})
_PARTS = (
    *(ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp),
    *(ast.IfExp, ast.Tuple, ast.Slice, ast.Call),
)


def is_plain(module: Module, node: ast.expr) -> bool:
    """True for names, attributes, arithmetic, sizes and rounding: nothing that allocates, copies or waits."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            if part.keywords or not _is_plain_call(module, part):
                return False
        elif isinstance(part, ast.expr) and not isinstance(part, _PARTS):
            return False
    return True


def _is_plain_call(module: Module, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
        return True
    dotted = dotted_at(module, call.func) or ast.unparse(call.func)
    return dotted.split(".")[-1] in _FUNCTIONS


def same_at_launch(module: Module, launch: Launch, node: ast.expr) -> bool:
    """True where a part of the grid, written at the launch, means what it means where it stands."""
    source = module.source
    site = grid_site(module, launch, node)
    return all(
        set(reaching(source, n.id, n, site)) == set(reaching(source, n.id, launch.call))
        for n in ast.walk(node)
        if isinstance(n, ast.Name)
    )


def written(module: Module, node: ast.expr) -> str:
    """An expression's text on one line: as it stands, where it takes one."""
    text = module.source.segment(node)
    return ast.unparse(node) if "\n" in text or "\r" in text else text
