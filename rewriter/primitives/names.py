"""Names that an edit of a kernel may use or must avoid."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from ..kernel.definition import KernelDef, Module
from ..kernel.launch import Launch


def language_name(module: Module, kernel: KernelDef) -> str | None:
    """How the kernel can write `triton.language`: the module's own alias, where no local name hides it."""
    local = {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    local |= set(kernel.parameter_names)
    aliases = [
        name for name, dotted in module.names.imported.items() if dotted == "triton.language" and name not in local
    ]
    if aliases:
        return "tl" if "tl" in aliases else aliases[0]
    roots = [name for name, dotted in module.names.imported.items() if dotted == "triton" and name not in local]
    return f"{roots[0]}.language" if roots else None


def names_in_use(module: Module, kernel: KernelDef) -> set[str]:
    """Every name that the kernel reads, sets or takes, and every name of the module."""
    found = {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name)} | set(kernel.parameter_names)
    return found | module.names.imported.keys() | module.names.constants.keys() | module.names.functions.keys()


def names_at_launches(launches: Iterable[Launch]) -> set[str]:
    """Every name that the functions around the launches read, set or take."""
    found: set[str] = set()
    for launch in launches:
        for node in ast.walk(launch.function) if launch.function is not None else ():
            found |= {node.id} if isinstance(node, ast.Name) else {node.arg} if isinstance(node, ast.arg) else set()
    return found


def fresh_name(name: str, taken: Collection[str]) -> str:
    """The name, with the first number from 2 on that makes it free where it is taken."""
    number, found = 2, name
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found
