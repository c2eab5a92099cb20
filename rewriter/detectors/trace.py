"""Following values back: everything an expression is computed from, within one function."""

from __future__ import annotations

import ast

from ..analysis.flow import Definition, Flow
from ..analysis.operators import expanded_dims
from .view import Body, KernelView

VIEWS = frozenset(
    {
        "expand_dims",
        "broadcast_to",
        "reshape",
        "view",
        "trans",
        "permute",
        "ravel",
        "multiple_of",
        "max_contiguous",
        "max_constancy",
    }
)
"""Operations that only arrange lanes, or say something about them."""
CASTS = frozenset({"to", "cast"})


def sources_of(view: KernelView, *nodes: ast.expr, through_loads: bool = False) -> frozenset[ast.AST]:
    """Every expression that the values are computed from: through names, branches and round loops.

    A load ends the way (its address is not part of the value) unless `through_loads`; so does what a loop counts over.
    """
    return frozenset(_Back(view.own, through_loads).run(list(nodes)))


def sources_in(body: Body, *nodes: ast.expr, through_loads: bool = False) -> frozenset[ast.AST]:
    """The same within the body of a helper."""
    return frozenset(_Back(body, through_loads).run(list(nodes)))


class _Back:
    def __init__(self, body: Body, through_loads: bool) -> None:
        self.body = body
        self.through_loads = through_loads
        self.seen: set[ast.AST] = set()
        self.made: set[Definition] = set()

    def run(self, nodes: list[ast.expr]) -> set[ast.AST]:
        pending: list[ast.AST] = list(nodes)
        while pending:
            node = pending.pop()
            if node in self.seen:
                continue
            self.seen.add(node)
            if isinstance(node, ast.Name):
                definition = self.body.flow.reaching.get(node)
                if definition is not None:
                    pending += self._definition(definition)
                continue
            if isinstance(node, ast.Call) and not self.through_loads and self._is_load(node):
                continue
            if isinstance(node, ast.Call):
                pending += [a.value if isinstance(a, ast.Starred) else a for a in node.args]
                pending += [k.value for k in node.keywords]
                if isinstance(node.func, ast.Attribute):
                    pending.append(node.func.value)
                continue
            pending += [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        return self.seen

    def _is_load(self, node: ast.Call) -> bool:
        return self.body.operation(node) == "load"

    def _definition(self, definition: Definition) -> list[ast.AST]:
        found: list[ast.AST] = []
        pending = [definition]
        while pending:
            made = pending.pop()
            if made in self.made:
                continue
            self.made.add(made)
            if made.kind != "loop" and made.value is not None:
                found.append(made.value)
            pending += made.sources
        return found


def unwrapped(body: Body, node: ast.expr) -> ast.expr:
    """The value behind casts, added dimensions and plain copies of names."""
    for _ in range(32):
        view = expanded_dims(node)
        if view is not None:
            node = view[0]
        elif isinstance(node, ast.Call) and (name := body.operation(node)) in CASTS | VIEWS:
            inner = _first(body.flow, node, name)
            if inner is None:
                return node
            node = inner
        elif isinstance(node, ast.Name):
            made = body.flow.reaching.get(node)
            if made is None or made.kind != "assign" or made.value is None:
                return node
            node = made.value
        else:
            return node
    return node


def _first(flow: Flow, node: ast.Call, name: str | None) -> ast.expr | None:
    if isinstance(node.func, ast.Attribute) and node.func.attr == name:
        root: ast.expr = node.func.value
        while isinstance(root, ast.Attribute):
            root = root.value
        local = isinstance(root, ast.Name) and root in flow.reaching
        if local or not isinstance(root, ast.Name):
            return node.func.value
    return node.args[0] if node.args else None


def stored_value(node: ast.Call, method: bool) -> ast.expr | None:
    """What a store writes: the second argument of `tl.store`, the last of `descriptor.store`."""
    if method:
        return node.args[-1] if node.args else None
    if len(node.args) > 1:
        return node.args[1]
    return next((k.value for k in node.keywords if k.arg == "value"), None)


def stores(view: KernelView) -> list[tuple[ast.Call, ast.expr]]:
    """Stores of the kernel itself with the expressions that they write."""
    found = []
    for node in view.own.called("store"):
        dotted = view.module.names.dotted(node.func) is not None
        value = stored_value(node, method=not dotted)
        if value is not None:
            found.append((node, value))
    return sorted(found, key=lambda pair: pair[0].lineno)
