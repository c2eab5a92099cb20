"""Launches: every place that starts a kernel, with its grid, arguments and options."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..reasons import refuse
from .definition import KernelDef, Module
from .scope import Function, enclosing_function, reaching, statement_of, within

OPTIONS = frozenset(
    {
        "num_warps",
        "num_stages",
        "num_ctas",
        "maxnreg",
        "launch_pdl",
        "launch_cooperative_grid",
        "enable_fp_fusion",
        "warp_size",
        "waves_per_eu",
        "matrix_instr_nonkdim",
        "kpack",
        "debug",
        "cluster_dims",
        "allow_fp8e4nv",
        "arch",
        "ptx_version",
        "device",
        "device_type",
        "stream",
        "warmup",
        "instrumentation_mode",
        "extern_libs",
        "sanitize_overflow",
        "schedule_hint",
    }
)
"""Keywords of a launch that no kernel receives as a parameter."""


@dataclass(frozen=True, eq=False)
class Launch:
    """One place that launches a kernel."""

    kernel: KernelDef
    call: ast.Call
    statement: ast.stmt
    function: Function | None
    """The innermost function around the launch; None at module level."""
    grid: ast.expr | None
    """None where `kernel.run` is called without one."""
    arguments: dict[str, ast.expr] = field(default_factory=dict)
    """Expression by kernel parameter."""
    options: dict[str, ast.keyword] = field(default_factory=dict)
    splats: tuple[ast.expr, ...] = ()
    """Operands of `**`."""
    positional_splat: ast.Starred | None = None
    """`*args`: the parameters after it are unknown."""
    others: tuple[str, ...] = ()
    """Other kernels that the same call may launch (`k = a if flag else b`)."""

    @property
    def conditional(self) -> bool:
        """True where the call may launch another kernel."""
        return bool(self.others)

    @property
    def line(self) -> int:
        return self.call.lineno


def launches_of(module: Module, kernel: KernelDef) -> tuple[Launch, ...]:
    """Every launch of the kernel in the file, in source order, found by definition."""
    found = []
    for node in module.source.parents:
        if isinstance(node, ast.Call):
            target = _target(node)
            if target is None or not _mentions_possible(module, target[0], kernel):
                continue
            kernels = _kernels(module, target[0], 4)
            if any(k is kernel for k in kernels):
                others = tuple(k.name for k in kernels if k is not kernel)
                found.append(_launch(module, kernel, node, target[1], others))
    return tuple(sorted(found, key=lambda launch: (launch.call.lineno, launch.call.col_offset)))


def readable_launches(module: Module, kernel: KernelDef) -> tuple[Launch, ...]:
    """The launches, for a rewrite that must change every one of them.

    Raises Refuse: no_launch_site; unreadable_launch where arguments hide behind `*args`, the call may launch another
    kernel, or the kernel itself is handed to code that launches it out of sight, as a decorator that is not known.
    """
    launches = launches_of(module, kernel)
    hidden = escapes_of(module, kernel)
    callers = calls_of(module, kernel)
    if callers and launches:
        why = f"it is also called as a function at line {callers[0].lineno}"
        raise refuse("unreadable_launch", callers[0], also=[one.call for one in launches], kernel=kernel.name, why=why)
    if kernel.other_decorators:
        why = "a decorator above it may launch it in its own way"
        raise refuse("unreadable_launch", kernel.other_decorators[0], kernel=kernel.name, why=why)
    if hidden:
        raise refuse(
            "unreadable_launch",
            hidden[0],
            also=hidden[1:],
            kernel=kernel.name,
            why=f"the kernel is passed on as a value at line {hidden[0].lineno}",
        )
    if not launches:
        raise refuse("no_launch_site", kernel.node, kernel=kernel.name)
    for launch in launches:
        if launch.positional_splat is not None:
            raise refuse("unreadable_launch", launch.call, kernel=kernel.name, why="its arguments come from *args")
        if launch.others:
            raise refuse(
                "unreadable_launch",
                launch.call,
                kernel=kernel.name,
                why=f"the same call may launch {', '.join(launch.others)}",
            )
        if launch.grid is None:
            raise refuse("unreadable_launch", launch.call, kernel=kernel.name, why="it has no grid")
    return launches


def escapes_of(module: Module, kernel: KernelDef) -> tuple[ast.Name, ...]:
    """Reads of the kernel other than launching it, calling it from a kernel or choosing it for a launch found above."""
    source = module.source
    escapes = []
    for node in _reads(module, kernel):
        parent = source.parents.get(node)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            continue  # The launch itself.
        if isinstance(parent, ast.Call) and parent.func is node:
            continue  # Called from another kernel: a device function there.
        if isinstance(parent, ast.Attribute):
            continue  # `kernel.fn`, `kernel.cache`: read, not launched; `.run` was seen above.
        if isinstance(parent, ast.Assign) and parent in source.tree.body and parent.value is node:
            continue  # A second name for export.
        if any(within(source, node, k.node) for k in module.kernels):
            continue  # Given to a reduction or scan as its combine function.
        escapes.append(node)
    if not escapes:
        return ()
    chosen: set[int] = set()
    for call in source.parents:
        target = _target(call) if isinstance(call, ast.Call) else None
        if target is not None:
            chosen |= _reads_followed(module, target[0], 4)
    return tuple(node for node in escapes if id(node) not in chosen)


def calls_of(module: Module, kernel: KernelDef) -> tuple[ast.Call, ...]:
    """Calls of the kernel as a device function, from another kernel: they see its parameters and its body."""
    found = []
    for node in _reads(module, kernel):
        parent = module.source.parents.get(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            found.append(parent)
    return tuple(found)


def _reads(module: Module, kernel: KernelDef) -> list[ast.Name]:
    """Names that stand for the kernel, wherever they are read."""
    named = [n for n in module.source.parents if isinstance(n, ast.Name) and n.id == kernel.name]
    return [
        n
        for n in named
        if isinstance(n.ctx, ast.Load) and any(b.node is kernel.node for b in reaching(module.source, n.id, n))
    ]


def _target(call: ast.Call) -> tuple[ast.expr, ast.expr | None] | None:
    """What is launched and its grid, for `K[grid](...)` and `K.run(..., grid=...)`."""
    if isinstance(call.func, ast.Subscript):
        return call.func.value, call.func.slice
    if isinstance(call.func, ast.Attribute) and call.func.attr == "run":
        grid = next((k.value for k in call.keywords if k.arg == "grid"), None)
        return call.func.value, grid
    return None


def _mentions_possible(module: Module, target: ast.expr, kernel: KernelDef) -> bool:
    """Cheap filter: a Name that neither is the kernel nor is assigned anything cannot be it."""
    return (
        not isinstance(target, ast.Name)
        or target.id == kernel.name
        or target.id not in {k.name for k in module.kernels}
    )


def _kernels(module: Module, target: ast.expr, depth: int) -> list[KernelDef]:
    """The kernels that an expression may stand for; in source order, each once."""
    by_node = {id(k.node): k for k in module.kernels}
    found: list[KernelDef] = []
    for part in _choices(module, target, depth):
        if isinstance(part, ast.FunctionDef) and id(part) in by_node and by_node[id(part)] not in found:
            found.append(by_node[id(part)])
    return found


def _choices(module: Module, target: ast.expr, depth: int) -> list[ast.AST]:
    if depth == 0:
        return []
    match target:
        case ast.Name(id=name):
            parts: list[ast.AST] = []
            for binding in reaching(module.source, name, target):
                if binding.kind == "definition":
                    parts.append(binding.node)
                elif binding.kind == "assign" and binding.value is not None:
                    parts += _choices(module, binding.value, depth - 1)
            return parts
        case ast.IfExp(body=body, orelse=orelse):
            return _choices(module, body, depth) + _choices(module, orelse, depth)
        case ast.BoolOp(values=values):
            return [p for v in values for p in _choices(module, v, depth)]
        case ast.Attribute(value=value, attr="fn"):
            return _choices(module, value, depth)
        case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(value=value, attr="get")):
            return [p for part in _table(module, value) for p in _choices(module, part, depth - 1)]
        case ast.Call(args=args):
            return [p for a in args if isinstance(a, ast.Name) for p in _choices(module, a, depth - 1)]
    return []


def _table(module: Module, value: ast.expr) -> list[ast.expr]:
    """Values of a dict, tuple or list display, or of the name of one."""
    match value:
        case ast.Dict(values=values):
            return values
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return elements
        case ast.Name(id=name):
            bindings = reaching(module.source, name, value)
            return [
                e
                for b in bindings
                if b.value is not None and not isinstance(b.value, ast.Name)
                for e in _table(module, b.value)
            ]
    return []


def _reads_followed(module: Module, target: ast.expr, depth: int) -> set[int]:
    """Names that `_choices` reads on its way."""
    found = {id(n) for n in ast.walk(target) if isinstance(n, ast.Name)}
    if depth:
        for node in [n for n in ast.walk(target) if isinstance(n, ast.Name)]:
            for binding in reaching(module.source, node.id, node):
                if binding.kind == "assign" and binding.value is not None:
                    found |= _reads_followed(module, binding.value, depth - 1)
    return found


def _launch(
    module: Module, kernel: KernelDef, call: ast.Call, grid: ast.expr | None, others: tuple[str, ...]
) -> Launch:
    names = kernel.parameter_names
    arguments: dict[str, ast.expr] = {}
    options: dict[str, ast.keyword] = {}
    splats: list[ast.expr] = []
    starred: ast.Starred | None = None
    for index, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            starred = argument
            break
        if index < len(names):
            arguments[names[index]] = argument
    is_run = isinstance(call.func, ast.Attribute)
    for keyword in call.keywords:
        if keyword.arg is None:
            splats.append(keyword.value)
        elif keyword.arg in names:
            arguments[keyword.arg] = keyword.value
        elif not (is_run and keyword.arg in ("grid", "warmup")):
            options[keyword.arg] = keyword
    return Launch(
        kernel,
        call,
        statement_of(module.source, call),
        enclosing_function(module.source, call),
        grid,
        arguments,
        options,
        tuple(splats),
        starred,
        others,
    )
