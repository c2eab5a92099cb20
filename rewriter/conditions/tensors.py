"""Which parameters of a kernel surely are tensors, and how the launcher writes what it needs of one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..analysis.events import Access
from ..kernel.definition import KernelDef, Module
from ..kernel.launch import Launch
from ..kernel.scope import reaching
from ..reasons import refuse


def sure_tensors(kernel: KernelDef, accesses: Iterable[Access]) -> tuple[str, ...]:
    """Parameters that are all that some access under no condition may point into."""
    numbers = {
        n.id
        for node in ast.walk(kernel.node)
        if isinstance(node, ast.Compare) or (isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add))
        for n in ast.iter_child_nodes(node)
        if isinstance(n, ast.Name)
    }
    bases = [a.pointer.bases - numbers for a in accesses if not a.conditions]
    return tuple(dict.fromkeys(b for one in bases if len(one) == 1 for b in one))


def tensor_at(launch: Launch, tensors: Iterable[str]) -> ast.expr:
    """The argument of the first of these parameters that an attribute can follow.

    Raises Refuse(unreadable_launch).
    """
    for name in tensors:
        node = launch.arguments.get(name)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return node
    why = "no tensor is passed by name, whose device could be asked for"
    raise refuse("unreadable_launch", launch.call, kernel=launch.kernel.name, why=why)


def torch_at(module: Module, launch: Launch) -> str:
    """How the launcher writes `torch`. Raises Refuse(unknown_construct)."""
    for name, dotted in module.names.imported.items():
        bound = reaching(module.source, name, launch.call)
        if dotted == "torch" and bound and all(b.kind == "import" for b in bound):
            return name
    raise refuse("unknown_construct", launch.call, construct="a file that does not import torch")
