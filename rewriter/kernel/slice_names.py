"""Which names a module-level statement binds, changes and reads: what a slice of a module follows."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator

BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__package__", "__spec__", "__path__"}
_MUTATORS = frozenset({"append", "extend", "add", "update", "insert", "setdefault", "pop", "remove", "discard"})
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def names_bound(statement: ast.stmt) -> set[str]:
    """Names that the statement binds in the module, at any depth of `if`, `try`, `with` and loops."""
    found: set[str] = set()
    for node in _own(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=aliases):
                found |= {a.asname or a.name.split(".")[0] for a in aliases}
            case ast.ImportFrom(names=aliases):
                found |= {a.asname or a.name for a in aliases if a.name != "*"}
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
    return found


def names_changed(statement: ast.stmt) -> set[str]:
    """Names whose value the statement changes without binding them: `TABLE[key] = x`, `TABLE.update(...)`."""
    found: set[str] = set()
    for node in _own(statement):
        match node:
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                found |= _root(node)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=method))) if method in _MUTATORS:
                found |= _root(value)
    return found


def names_read(statement: ast.stmt, annotations: bool) -> set[str]:
    """Names of the module that the statement reads, also inside functions and classes; builtins left out.

    `annotations` is false where the file has `from __future__ import annotations`: they are never evaluated then.
    """
    if not annotations:
        statement = _Unannotated().visit(ast.parse(ast.unparse(statement)).body[0])
    table = symtable.symtable(ast.unparse(ast.fix_missing_locations(statement)), "<slice>", "exec")
    return set(_globals(table)) - BUILTINS


class _Unannotated(ast.NodeTransformer):
    """Replaces annotations by empty strings."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = ast.Constant("")
        self.generic_visit(node)
        return node


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        if table.get_type() == "module":
            if symbol.is_referenced():
                yield symbol.get_name()
        elif symbol.is_global() and (symbol.is_referenced() or symbol.is_declared_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals(child)


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """The statement's nodes, not those inside functions and classes it defines."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _NESTED):
            waiting += ast.iter_child_nodes(node)


def _root(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
