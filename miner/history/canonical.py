"""The canonical form of a function: what is left when spelling, formatting, comments and names do not count."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from typing import TypeVar

from .names import OPERATIONS, Names, is_method

_Tree = TypeVar("_Tree", ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_COMMUTES = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


def canonical(tree: _Tree, names: Names, local: frozenset[str], *, kernel: bool) -> _Tree:
    """A function or a module in which calls have one spelling, keywords are sorted, and docstrings are gone. The tree
    itself is changed. `local`: names that the function takes as parameters, which no import means."""
    found = _Resolve(names, local, kernel).visit(tree)
    assert isinstance(found, type(tree))
    return found


def shape_hash(texts: Iterable[str], bound: Iterable[str]) -> str:
    """A hash of canonical statements that survives renaming of the names `bound`."""
    names, number = set(bound) - OPERATIONS, dict[str, str]()

    def renamed(match: re.Match[str]) -> str:
        name = match[0]
        return number.setdefault(name, f"_{len(number)}") if name in names else name

    return hashlib.sha256(_NAME.sub(renamed, "\n".join(texts)).encode()).hexdigest()[:20]


def same_value(one: str, other: str) -> bool:
    """True for two canonical statements that differ in the order of sums and products only."""
    try:
        return _ordered(one) == _ordered(other)
    except SyntaxError:  # the head of a compound statement, a parameter, a decorator
        return False


def _ordered(text: str) -> str:
    return ast.unparse(_Ordered().visit(ast.parse(text)))


def _chain(dotted: str) -> ast.expr:
    first, *rest = dotted.split(".")
    node: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        node = ast.Attribute(node, part, ast.Load())
    return node


class _Resolve(ast.NodeTransformer):
    """One spelling for each operation; no docstrings; keywords in order."""

    def __init__(self, names: Names, local: frozenset[str], kernel: bool) -> None:
        self._names, self._local, self._kernel = names, local, kernel

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        dotted = self._names.dotted(function, self._local)
        self.generic_visit(node)
        if dotted is not None:
            node.func = _chain(dotted)
        elif self._kernel and isinstance(function, ast.Attribute) and is_method(function.attr):
            assert isinstance(node.func, ast.Attribute)
            node.args = [node.func.value, *node.args]
            node.func = _chain(f"tl.{function.attr}")
        if all(k.arg is not None for k in node.keywords):
            node.keywords.sort(key=lambda k: k.arg or "")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        dotted = self._names.dotted(node, self._local)
        if dotted is not None and dotted.startswith("tl."):
            return ast.copy_location(_chain(dotted), node)
        self.generic_visit(node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant):
            return ast.Pass()
        self.generic_visit(node)
        return node


class _Ordered(ast.NodeTransformer):
    """Operands of commutative operations in the order of their texts."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, _COMMUTES) and ast.unparse(node.right) < ast.unparse(node.left):
            node.left, node.right = node.right, node.left
        return node
