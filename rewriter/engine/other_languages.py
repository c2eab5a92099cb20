"""Kernels in other languages: counted by the decorators that make them, and not read."""

from __future__ import annotations

import ast
from collections import Counter

from ..kernel.definition import Module

MAKERS = {
    "triton.experimental.gluon.jit": "Gluon",
    "triton.experimental.gluon._runtime.jit": "Gluon",
    "cutlass.cute.kernel": "CuTe",
    "tilelang.language.prim_func": "TileLang",
    "helion.kernel": "Helion",
    "helion.experimental.aot_kernel": "Helion",
}
"""Decorators that make one kernel each, by where they are defined."""
WORDS = ("gluon", "cutlass", "tilelang", "helion")
"""A file that makes such kernels holds one of these words."""


def other_kernels(module: Module) -> dict[str, int]:
    """How many kernels of each other language the file holds."""
    if not any(word in module.source.text for word in WORDS):
        return {}
    imported = _imports(module)
    found: Counter[str] = Counter()
    for node in module.source.parents:
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            language = MAKERS.get(_dotted(decorator.func if isinstance(decorator, ast.Call) else decorator, imported))
            if language is not None:
                found[language] += 1
    return dict(sorted(found.items()))


def _imports(module: Module) -> dict[str, str]:
    """Names by what they are imported from, imports inside functions included."""
    found: dict[str, str] = {}
    for node in module.source.parents:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.split(".")[0]
                found[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _dotted(node: ast.expr, imported: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, imported)}.{node.attr}"
    return imported.get(node.id, node.id) if isinstance(node, ast.Name) else ""
