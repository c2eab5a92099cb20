"""producer_launch: a kernel before this one can be launched beside every launch, with all it needs written there."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ..analysis.producer_slice import ProducerSlice, reads_of
from ..kernel.autotune import heuristics_of, tuned_names
from ..kernel.definition import KernelDef, Module
from ..kernel.grid import GridChoice, read_grid
from ..kernel.launch import Launch
from ..kernel.plain import is_plain, written
from ..reasons import Refuse, refuse
from .own_grid import at_launch
from .tensors import tensor_at, torch_at

_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call)


@dataclass(frozen=True)
class ProducerLaunch:
    """What the launch of the new kernel needs, as source text."""

    launch: Launch
    rank: int
    """Dimensions of the grid."""
    grid: str
    programs: tuple[str, ...]
    """The other dimensions of the grid, as factors."""
    parameters: tuple[str, ...]
    """Parameters of the kernel that the new one takes too."""
    arguments: dict[str, str]
    """By parameter; those that a heuristic computes are not passed."""
    decorators: tuple[str, ...]
    device: str
    torch: str
    options: dict[str, str]
    """Launch options that are plain expressions."""

    def size(self, parameter: str) -> str:
        """A constexpr size at the launch, as a factor. Raises Refuse(tile_from_heuristic)."""
        if parameter not in self.arguments and not parameter.isdigit():
            raise refuse("tile_from_heuristic", self.launch.call, tile=parameter)
        text = self.arguments.get(parameter, parameter)
        return text if isinstance(ast.parse(text, mode="eval").body, _ATOMS) else f"({text})"


def needed_parameters(module: Module, kernel: KernelDef, sliced: ProducerSlice) -> tuple[str, ...]:
    """Parameters that the moved statements read, those that heuristics of these read, and sizes of what is saved."""
    read = {n for s in sliced.moved for n in reads_of(s)} | {n for one in sliced.saved for n in one.sizes}
    for name, function in heuristics_of(kernel):
        if name in read:
            read |= {n.value for n in ast.walk(function) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return tuple(p for p in kernel.parameter_names if p in read)


def producer_launches(
    module: Module, launches: Sequence[Launch], axis: int | None, parameters: tuple[str, ...], tensors: tuple[str, ...]
) -> list[ProducerLaunch]:
    """One for every launch, with one program along the axis; None for the whole grid, and a kernel that brings its own
    decorators. `tensors` are parameters that surely are tensors the new kernel reads.

    Raises Refuse: unreadable_launch, tile_belongs_to_autotuner, no_tiled_axis, unknown_construct.
    """
    kernel = launches[0].kernel
    tuned, whole = tuned_names(module, kernel)
    for name in parameters:
        if name in tuned or (not whole and any(name not in x.arguments for x in launches)):
            raise refuse("tile_belongs_to_autotuner", kernel.node, tile=name)
    found = [_one(module, launch, axis, parameters, tensors) for launch in launches]
    if len({one.rank for one in found}) > 1:
        raise _unreadable(launches[0], "its launches differ in the number of grid dimensions")
    return found


def _one(
    module: Module, launch: Launch, axis: int | None, parameters: tuple[str, ...], tensors: tuple[str, ...]
) -> ProducerLaunch:
    statement = launch.statement
    value = statement.value if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) else None
    if value is not launch.call or not isinstance(launch.call.func, ast.Subscript):
        raise _unreadable(launch, "the launch is no statement of its own")
    if "launch_pdl" in launch.options or "launch_cooperative_grid" in launch.options:
        raise _unreadable(launch, "it is launched dependent on the kernel before, or as a cooperative grid")
    grid = read_grid(module, launch)
    choice = grid.choices[0]
    if len(grid.choices) > 1:
        raise _unreadable(launch, "it has more than one grid")
    if axis is not None and axis >= len(choice.dims):
        raise refuse("no_tiled_axis", launch.kernel.node, kernel=launch.kernel.name)
    sizes = {n: _dimension(module, launch, choice, d) for n, d in enumerate(choice.dims) if n != axis}
    computed = dict(heuristics_of(launch.kernel))
    arguments = {n: _argument(module, launch, n) for n in parameters if n not in computed}
    return ProducerLaunch(
        launch,
        len(choice.dims),
        _tuple(["1" if n == axis else sizes[n] for n in range(len(choice.dims))]),
        tuple(_factor(text) for text in sizes.values()),
        parameters,
        arguments,
        () if axis is None else _heuristics(module, launch, parameters, computed),
        f"{written(module, tensor_at(launch, tensors))}.device",
        torch_at(module, launch),
        {n: written(module, k.value) for n, k in launch.options.items() if is_plain(module, k.value)},
    )


def _argument(module: Module, launch: Launch, name: str) -> str:
    node = launch.arguments.get(name)
    if node is None:
        parameter = launch.kernel.parameter(name)
        node = parameter.default if parameter is not None else None
        if not isinstance(node, ast.Constant) or launch.splats:
            raise _unreadable(launch, f"the argument {name} is not written there")
    if not is_plain(module, node):
        raise _unreadable(launch, f"the argument {name} is `{ast.unparse(node)}`, which would be computed twice")
    return written(module, node)


def _heuristics(
    module: Module, launch: Launch, parameters: tuple[str, ...], computed: dict[str, ast.expr]
) -> tuple[str, ...]:
    needed = {n: f for n, f in computed.items() if n in parameters}
    if not needed:
        return ()
    if not all(isinstance(f, ast.Lambda) for f in needed.values()):
        raise refuse("unknown_construct", launch.kernel.node, construct="a heuristic that is no lambda")
    decorator = module.source.segment(launch.kernel.heuristics[0].func)
    items = ", ".join(f'"{name}": {written(module, function)}' for name, function in needed.items())
    return (f"@{decorator}({{{items}}})",)


def _tuple(parts: list[str]) -> str:
    return ", ".join(parts) + ("," if len(parts) == 1 else "")


def _factor(text: str) -> str:
    return text if isinstance(ast.parse(text, mode="eval").body, _ATOMS) else f"({text})"


def _dimension(module: Module, launch: Launch, choice: GridChoice, node: ast.expr) -> str:
    """A grid dimension as it can be written at the launch. Raises Refuse(unreadable_launch)."""
    text = at_launch(module, launch, choice, node)
    if text is None:
        raise _unreadable(launch, f"the grid dimension `{ast.unparse(node)}` cannot be written at the launch")
    return text


def _unreadable(launch: Launch, why: str) -> Refuse:
    return refuse("unreadable_launch", launch.call, kernel=launch.kernel.name, why=why)
