"""Names that statements read and set, and whether they are set on every path."""

from __future__ import annotations

import ast
from collections.abc import Iterable


def names_set(statement: ast.stmt) -> frozenset[str]:
    """Every name the statement may set."""
    return frozenset(n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def names_read(statement: ast.stmt) -> frozenset[str]:
    """Every name the statement may read, the targets of `x += 1` included."""
    found = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    found |= {
        n.target.id for n in ast.walk(statement) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
    return frozenset(found)


def surely_set(statement: ast.stmt) -> frozenset[str]:
    """Names the statement sets on every path through it."""
    match statement:
        case ast.If():
            return _all(statement.body) & _all(statement.orelse)
        case ast.For() | ast.While():
            return frozenset()
        case ast.Assign() | ast.AnnAssign():
            return names_set(statement)
        case _:
            return frozenset()


def _all(body: Iterable[ast.stmt]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for statement in body:
        found |= surely_set(statement)
    return found


def read_before_set(body: Iterable[ast.stmt]) -> frozenset[str]:
    """Names that a run through the statements may read before it has set them."""
    done: frozenset[str] = frozenset()
    exposed: frozenset[str] = frozenset()
    for statement in body:
        exposed |= _exposed(statement) - done
        done |= surely_set(statement)
    return exposed


def _exposed(statement: ast.stmt) -> frozenset[str]:
    """Names one statement may read before it sets them itself."""
    match statement:
        case ast.If():
            test = frozenset(n.id for n in ast.walk(statement.test) if isinstance(n, ast.Name))
            return test | read_before_set(statement.body) | read_before_set(statement.orelse)
        case ast.For():
            head = frozenset(n.id for n in ast.walk(statement.iter) if isinstance(n, ast.Name))
            target = frozenset(n.id for n in ast.walk(statement.target) if isinstance(n, ast.Name))
            return head | (read_before_set(statement.body) - target) | read_before_set(statement.orelse)
        case ast.While():
            test = frozenset(n.id for n in ast.walk(statement.test) if isinstance(n, ast.Name))
            return test | read_before_set(statement.body)
        case _:
            return names_read(statement)
