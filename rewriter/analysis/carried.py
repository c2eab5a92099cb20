"""Loop-carried values: what one iteration hands to the next, and which expressions flow into it."""

from __future__ import annotations

import ast

from .flow import Definition, Flow


def carried_through(flow: Flow, node: ast.expr) -> Definition | None:
    """The loop-carried name that the value of `node` flows into, in a loop that holds `node`; None where there is none.

    Follows arithmetic, calls, names and joins forward; memory is not followed.
    """
    around = flow.loops_around(node)
    if not around:
        return None
    seen: set[Definition] = set()
    pending = list(_made_from(flow, node))
    while pending:
        made = pending.pop()
        if made in seen:
            continue
        seen.add(made)
        if made.kind == "carry" and made.node in around:
            return made
        pending += made.feeds
        for use in made.uses:
            pending += _made_from(flow, use)
    return None


def _made_from(flow: Flow, node: ast.expr) -> list[Definition]:
    """Definitions whose value is computed from this expression."""
    child: ast.AST = node
    parent = flow.parents.get(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        child, parent = parent, flow.parents.get(parent)
    if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and child is parent.value:
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        made = [flow.stored[n] for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and n in flow.stored]
        # Where tuples face each other, only the facing name is made from the expression.
        facing = [d for d in made if d.kind != "assign" or d.value is None or _holds(d.value, node)]
        return facing
    return []


def _holds(tree: ast.AST, node: ast.AST) -> bool:
    return any(n is node for n in ast.walk(tree))
