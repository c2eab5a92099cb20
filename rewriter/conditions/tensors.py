"""Which parameters of a kernel surely are tensors, and how the launcher writes what it needs of one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..analysis.events import Access, Condition
from ..kernel.definition import KernelDef, Module
from ..kernel.idioms import follow
from ..kernel.launch import Launch
from ..kernel.scope import reaching
from ..reasons import refuse
from .aliases import FRESH, VIEWS


def sure_tensors(kernel: KernelDef, accesses: Iterable[Access]) -> tuple[str, ...]:
    """Parameters that are all that some access may point into, which no compile-time flag leaves out.

    A branch on what is known at run time only is compiled either way, so what it accesses is a tensor.
    """
    numbers = {
        n.id
        for node in ast.walk(kernel.node)
        if isinstance(node, ast.Compare) or (isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add))
        for n in ast.iter_child_nodes(node)
        if isinstance(n, ast.Name)
    }
    bases = [a.pointer.bases - numbers for a in accesses if all(_is_compiled(kernel, c) for c in a.conditions)]
    return tuple(dict.fromkeys(b for one in bases if len(one) == 1 for b in one))


def _is_compiled(kernel: KernelDef, condition: Condition) -> bool:
    """True for a comparison, or a loop, that turns on something other than constexpr parameters."""
    if not isinstance(condition.test, (ast.Compare, ast.Call)):
        return False
    value = condition.value
    return bool(value.axes or value.memory or value.symbols - kernel.constexprs)


def made_by_launcher(module: Module, launches: Iterable[Launch], name: str) -> bool:
    """True where every launch passes a tensor that the launcher has just made, as by `torch.empty`."""
    for launch in launches:
        argument = launch.arguments.get(name)
        made = follow(module, argument)[0] if argument is not None else None
        if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or made.func.attr not in FRESH:
            return False
    return True


def tensor_at(launch: Launch, tensors: Iterable[str]) -> ast.expr:
    """The argument of the first of these parameters that an attribute can follow.

    Raises Refuse(unreadable_launch).
    """
    for name in tensors:
        node = _whole(launch.arguments.get(name))
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return node
    why = "no tensor is passed by name, whose device could be asked for"
    raise refuse("unreadable_launch", launch.call, kernel=launch.kernel.name, why=why)


def _whole(node: ast.expr | None) -> ast.expr | None:
    """The tensor of which an argument is a view or a part: `x` of `x[a:b]` and of `x.view(-1)`."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS:
            node = node.func.value
        elif isinstance(node, ast.Subscript) and any(isinstance(n, ast.Slice) for n in ast.walk(node.slice)):
            node = node.value
        else:
            return node


def torch_at(module: Module, launch: Launch) -> str:
    """How the launcher writes `torch`. Raises Refuse(unknown_construct)."""
    for name, dotted in module.names.imported.items():
        bound = reaching(module.source, name, launch.call)
        if dotted == "torch" and bound and all(b.kind == "import" for b in bound):
            return name
    raise refuse("unknown_construct", launch.call, construct="a file that does not import torch")
