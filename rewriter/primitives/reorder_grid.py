"""reorder_grid: put every axis of the grid on the first one, which does not end at 65,535 programs.

rewrite:  i_v = tl.program_id(0)          ->  i_program = tl.program_id(0)
          i_n = tl.program_id(1)              i_v = i_program % grid_0
                                              i_n = i_program // grid_0
          kernel[(NV, B * H)](x)          ->  kernel[(NV * (B * H),)](x, grid_0=NV)

The order in which programs are numbered stays: the first axis is the fastest, as the hardware has it. The sizes of
all axes but the last are passed to the kernel; one that reads the tuned tile is computed there from its parameters.
A launcher elsewhere that still gives the old grid fails, since it does not pass the sizes.

Conditions
    - an axis other than the first is a product of sizes known at run time only;
    - every launch can be read, and its grid serves nothing else;
    - the kernel does not ask for the number of programs, and no helper asks which program it is.

Numerics
    `bitwise`: the same programs do the same. Their number must stay below 2^31, the limit of the first axis.

Refuses: grid_within_limits, grid_barrier, opaque_call, unreadable_launch, no_launch_site, tile_shared, name_taken,
unknown_construct.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..conditions.own_grid import own_grids, size_at_launch, size_in_kernel, unreadable
from ..conditions.own_programs import program_ids
from ..kernel.changes import Changes
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.grid import Grid
from ..kernel.idioms import factors, follow
from ..kernel.insert import insert_lines, insert_parameters
from ..kernel.launch import Launch, readable_launches
from ..kernel.plain import written
from ..reasons import refuse
from .base import Primitive
from .names import language_name, names_in_use

PROGRAM = "i_program"


def reorder_grid(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that flatten the grid onto its first axis, in the kernel and at every launch. Raises Refuse."""
    launches = readable_launches(module, kernel)
    grids = own_grids(module, launches)
    rank = len(next(iter(grids.values())).dims)
    if not any(_is_product(module, d) for g in grids.values() for c in g.choices for d in c.dims[1:]):
        raise refuse("grid_within_limits", launches[0].call, kernel=kernel.name)
    calls = program_ids(module, kernel)
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    changes = Changes()
    names = [f"grid_{axis}" for axis in range(rank - 1)]
    computed: dict[str, str] = {}
    for axis, name in enumerate(names):
        known = _size(module, kernel, grids, axis, language)
        if known is not None:
            computed[name] = known
        else:
            for launch, grid in grids.items():
                size = size_at_launch(module, launch, grid.choices[0], axis)
                assert size is not None
                changes.add_keyword(launch.call, name, written(module, size))
    taken = names_in_use(module, kernel)
    for name in (PROGRAM, *names):
        if name in taken:
            raise refuse("name_taken", kernel.node, name=name, scope=kernel.name)
    for grid in grids.values():
        for choice in grid.choices:
            changes.replace(module, choice.node, f"({' * '.join(_factor(module, d) for d in choice.dims)},)")
    return changes.edits(module) + _kernel_edits(module, kernel, calls, names, computed, language)


def _is_product(module: Module, dim: ast.expr) -> bool:
    """True for a product of two factors or more that are known at run time only."""
    found: list[ast.expr] = []
    for part in factors(follow(module, dim)[0]):
        found += factors(follow(module, part)[0])
    return sum(not isinstance(f, ast.Constant) for f in found) > 1


def _size(module: Module, kernel: KernelDef, grids: dict[Launch, Grid], axis: int, language: str) -> str | None:
    """Text for the size of an axis in the kernel; None where every launch can pass it. Raises Refuse."""
    if all(
        len(g.choices) == 1 and size_at_launch(module, launch, g.choices[0], axis) is not None
        for launch, g in grids.items()
    ):
        return None
    texts = {
        size_in_kernel(module, launch, choice, axis, language) for launch, g in grids.items() for choice in g.choices
    }
    text = texts.pop() if len(texts) == 1 else None
    if text is None:
        launch = next(iter(grids))
        raise unreadable(launch, f"the size of grid axis {axis} can be written neither at the launch nor in the kernel")
    return text


def _factor(module: Module, node: ast.expr) -> str:
    text = written(module, node)
    return text if isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)) else f"({text})"


def _kernel_edits(
    module: Module,
    kernel: KernelDef,
    calls: list[tuple[ast.Call, int]],
    sizes: list[str],
    computed: dict[str, str],
    language: str,
) -> list[Edit]:
    source = module.source
    edits = []
    for call, axis in calls:
        around = source.parents[call]
        alone = isinstance(around, (ast.Assign, ast.Tuple, ast.Call, ast.keyword))
        text = _decoded(axis, sizes)
        edits.append(Edit(*source.span(call), text if alone else f"({text})"))
    default = " = None" if kernel.node.args.defaults else ""
    passed = [name for name in sizes if name not in computed]
    if passed:
        edits += insert_parameters(source, kernel.node, [name + default for name in passed])
    body = kernel.node.body
    first = body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(body) > 1
    # Before anything else: a parameter that a size is made of may be set again further down.
    lines = [f"{PROGRAM} = {language}.program_id(0)", *(f"{name} = {text}" for name, text in computed.items())]
    line = insert_lines(source, None, body[1] if is_docstring else first, lines)
    if line is None:
        raise refuse("unknown_construct", first, construct="a body on the line of its signature")
    return [*edits, line]


def _decoded(axis: int, sizes: list[str]) -> str:
    """The part of the flattened id that was `program_id(axis)`: 0 past the last axis."""
    if axis > len(sizes):
        return f"{PROGRAM} * 0"
    below = sizes[:axis]
    divisor = below[0] if len(below) == 1 else f"({' * '.join(below)})"
    text = f"{PROGRAM} // {divisor}" if below else PROGRAM
    return f"{text} % {sizes[axis]}" if axis < len(sizes) else text


PRIMITIVE = Primitive("reorder_grid", reorder_grid, NumericsClass.BITWISE)
