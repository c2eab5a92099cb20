"""A hash that vendored copies of a kernel share."""

from __future__ import annotations

import ast
import hashlib


def digest(function: ast.FunctionDef) -> str:
    """Of the function's parameters and body: formatting, comments, docstrings, decorators, annotations of variables and
    the names it gives to itself, its parameters and its variables do not count; what it calls does."""
    numbers: dict[str, str] = {}
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            numbers.setdefault(argument.arg, f"_{len(numbers)}")
    bound = [n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    for name in sorted(bound, key=lambda n: (n.lineno, n.col_offset)):
        numbers.setdefault(name.id, f"_{len(numbers)}")
    hasher = hashlib.sha256()
    _feed(function.args, numbers, hasher.update)
    for statement in function.body:
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            _feed(statement, numbers, hasher.update)
    return hasher.hexdigest()[:40]


def _feed(node: object, numbers: dict[str, str], update: object) -> None:
    assert callable(update)
    if isinstance(node, ast.Name):
        update(f"n:{numbers.get(node.id, node.id)};".encode())
    elif isinstance(node, ast.arg):
        update(f"a:{numbers.get(node.arg, node.arg)};".encode())
        _feed(node.annotation, numbers, update)
    elif isinstance(node, ast.keyword):
        update(f"k:{node.arg};".encode())
        _feed(node.value, numbers, update)
    elif isinstance(node, ast.AST):
        update(f"({type(node).__name__};".encode())
        for field, value in ast.iter_fields(node):
            if field not in ("ctx", "type_comment", "kind"):
                _feed(value, numbers, update)
        update(b")")
    elif isinstance(node, list):
        update(b"[")
        for one in node:
            _feed(one, numbers, update)
        update(b"]")
    else:
        update(f"c:{type(node).__name__}:{node!r};".encode(errors="surrogatepass"))
