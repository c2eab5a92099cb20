"""Which candidates need a copy of the kernel: a guard's variants that differ in the launcher only share one. Pure."""

from __future__ import annotations

import ast
import hashlib

from .plan import Plan


def kernel_copies(plan: Plan) -> dict[str, str | None]:
    """By candidate the hash of its kernels' text; None where it is the original's, so that nothing has to be copied."""
    own = jitted_text(plan.subject.text)
    return {one.name: _hash(text) if (text := jitted_text(one.text)) != own else None for one in plan.candidates}


def jitted_text(text: str) -> str:
    """The module-level functions that carry a decorator named `jit`, with their decorators; all of it if unparsable."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    lines = text.splitlines(keepends=True)
    parts = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(_is_jit(one) for one in node.decorator_list):
            first = min(one.lineno for one in node.decorator_list)
            parts.append("".join(lines[first - 1 : node.end_lineno]))
    return "".join(parts)


def _is_jit(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", None)) == "jit"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
