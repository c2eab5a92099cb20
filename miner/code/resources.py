"""What the source says of a Triton kernel's resources: tiles, warps, stages, configurations and launches."""

from __future__ import annotations

import ast
from typing import Any

from skel.rewriter.kernel.autotune import heuristics_of
from skel.rewriter.kernel.configurations import decorator_argument, key_names
from skel.rewriter.kernel.definition import KernelDef, Module
from skel.rewriter.kernel.idioms import constant_value
from skel.rewriter.kernel.launch import Launch

from .comments import shortened
from .configurations import configurations, ranges

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "launch_pdl")


def resources(module: Module, kernel: KernelDef, launches: tuple[Launch, ...]) -> dict[str, Any]:
    """Plain JSON types. Values are numbers where the file gives numbers, else the source's expression."""
    found: dict[str, Any] = {"parameters": len(kernel.parameters), "constexprs": sorted(kernel.constexprs)}
    found["tiles"] = _tiles(module, kernel, launches)
    if kernel.autotune is not None:
        tuned = configurations(module, kernel)
        found["autotune"] = {
            "configurations": len(tuned) if tuned is not None else None,
            "values": ranges(tuned) if tuned is not None else {},
            "key": list((key_names(decorator_argument(kernel, "key", 1)) or (None, ()))[1]),
        }
    if kernel.heuristics:
        found["heuristics"] = sorted({name for name, _ in heuristics_of(kernel)})
    found["launches"] = [_launch(module, launch) for launch in launches]
    found["operations"] = _operations(module, kernel)
    return found


def _tiles(module: Module, kernel: KernelDef, launches: tuple[Launch, ...]) -> dict[str, list[Any]]:
    """Constexpr parameters that size a block, with what each launch gives them."""
    found: dict[str, list[Any]] = {}
    for size in sorted(block_sizes(module, kernel)):
        given = [launch.arguments[size] for launch in launches if size in launch.arguments]
        values = [_plain(module, value) for value in given]
        found[size] = list(dict.fromkeys(values))
    return found


def block_sizes(module: Module, kernel: KernelDef) -> set[str]:
    """Constexpr parameters that stand in the shape of a block."""
    return {
        name.id
        for call in ast.walk(kernel.node)
        if isinstance(call, ast.Call)
        and module.names.triton_name(call.func) in ("arange", "zeros", "full", "make_block_ptr", "reshape")
        for argument in (*call.args, *(k.value for k in call.keywords))
        for name in ast.walk(argument)
        if isinstance(name, ast.Name) and name.id in kernel.constexprs
    }


def _launch(module: Module, launch: Launch) -> dict[str, Any]:
    options = {name: _plain(module, launch.options[name].value) for name in _OPTIONS if name in launch.options}
    grid = shortened(ast.unparse(launch.grid)) if launch.grid is not None else None
    function = launch.function.name if launch.function is not None and hasattr(launch.function, "name") else None
    return {"line": launch.line, "function": function, "grid": grid, **options}


def _plain(module: Module, node: ast.expr) -> Any:
    value = constant_value(module, node)
    return value if isinstance(value, int | float | bool) else shortened(ast.unparse(node))


def _operations(module: Module, kernel: KernelDef) -> dict[str, int]:
    """How many loads, stores, dots, atomics and loops the kernel's own body has."""
    counts = {"load": 0, "store": 0, "dot": 0, "atomic": 0, "loop": 0}
    for node in ast.walk(kernel.node):
        if isinstance(node, ast.For | ast.While):
            counts["loop"] += 1
        name = module.names.triton_name(node.func) if isinstance(node, ast.Call) else None
        if name is not None:
            word = "atomic" if name.startswith("atomic_") else name
            if word in counts:
                counts[word] += 1
    return {word: count for word, count in counts.items() if count}
