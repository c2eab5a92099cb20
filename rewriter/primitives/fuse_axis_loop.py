"""fuse_axis_loop: let one program walk several tiles of a grid axis, and do once what they have in common.

rewrite:  i_v = tl.program_id(0)              ->  i_v_group = tl.program_id(0)
          k = normalise(load(k_ptr))              k = normalise(load(k_ptr))
          store(o + i_v * BV + r, f(k, i_v))      for i_v in range(i_v_group * TILES, (i_v_group + 1) * TILES):
                                                      store(o + i_v * BV + r, f(k, i_v))
          grid = (triton.cdiv(V, BV), B)          grid = (triton.cdiv(V, BV * TILES), B)

Each tile keeps its size and its statements; a statement moves before the loop only where nothing in it depends on the
tile, where the loop sets none of its names, and where no memory that the kernel writes lies between.

Conditions
    tiles_mergeable, or with `merge="no"` tiles_loopable (each tile stays what it is, so a reduction inside it may).
    Shared work must end up before the loop: in a kernel that walks time in a loop of its own it does not, and the
    primitive refuses `loop_carried_across_tiles`.

Numerics
    `bitwise` per tile by itself; a change of warps that goes with it makes it `reassociated`.

Refuses with the codes of conditions/fusable_axis.py, mergeable.py, loopable.py and primitives/divide_grid.py.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass, Refusal

from ..analysis.axis_names import AxisNames, axis_names, language_name
from ..analysis.facts import Facts, analyse
from ..analysis.helpers import asks_in_helper
from ..analysis.tile_slice import TileSlice, slice_body
from ..conditions.aliases import aliases_of
from ..conditions.bounds import idle_past_end
from ..conditions.context import FusionContext
from ..conditions.fusable_axis import choose_axis
from ..conditions.launch_sites import require_same_choice
from ..conditions.loopable import check_loopable, check_rereads
from ..conditions.mergeable import check_mergeable
from ..conditions.redundant_work import redundant_work
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit, apply_edits, line_edits
from ..kernel.idioms import ceiling_text
from ..kernel.launch import Launch
from ..kernel.scope import enclosing_function
from ..kernel.segments import indent_unit, segment_text, segments
from ..kernel.tile import trace_tile
from ..reasons import refusal, refuse, refuse_all
from .base import Primitive
from .divide_grid import divide_grid
from .pass_constexpr import add_parameter, pass_constexpr
from .separate_tuples import separate_tuples

PARAMETER = "TILES"
"""The constexpr that says how many tiles a program walks."""


def fuse_axis_loop(
    module: Module,
    kernel: KernelDef,
    *,
    tiles_per_program: int | str = "all",
    axis: str | None = None,
    merge: str = "yes",
) -> list[Edit]:
    """Edits that let a program walk `tiles_per_program` tiles ("all" for every tile of the dimension).

    Raises Refuse.
    """
    separated = separate_tuples(module, kernel, axis)
    if separated is not None:
        text = apply_edits(
            separated.source.text,
            _fused(separated, separated.kernels_named(kernel.name)[0], tiles_per_program, axis, merge),
        )
        return line_edits(module.source, text)
    return _fused(module, kernel, tiles_per_program, axis, merge)


def _fused(module: Module, kernel: KernelDef, tiles_per_program: int | str, axis: str | None, merge: str) -> list[Edit]:
    facts = analyse(module, kernel)
    context = choose_axis(facts, axis)
    refuse_all(check_mergeable(context) if merge == "yes" else check_loopable(context))
    refuse_all(check_rereads(context))
    asking = asks_in_helper(module, kernel)
    if asking is not None:
        # In the loop a program's own index counts groups of tiles; a helper would still take it for the tile.
        raise refuse("unknown_construct", asking, construct="a helper that reads program ids")
    body = _body(kernel)
    names = axis_names(facts, context.axis, body, PARAMETER)
    sliced = slice_body(facts, context.axis, body, aliases_of(module, context.launches), frozenset(names.statements))
    refuse_all(_problems(context, sliced))
    require_same_choice(module, context.launches, context.tile)
    number = int(context.axis.root) if context.axis.root.isdigit() else None
    fixed = None if tiles_per_program == "all" else str(tiles_per_program)
    edits = divide_grid(module, context.launches, context.tile, fixed, axis=number)
    for launch in context.launches:
        edits += pass_constexpr(module, [launch], PARAMETER, fixed or _all_tiles(context, launch))
    edits += add_parameter(module, kernel, PARAMETER)
    return edits + [_rewritten_body(context, sliced, names, body, exact=not idle_past_end(context))]


def _all_tiles(context: FusionContext, launch: Launch) -> str:
    """Source text, at the launch, for the number of all tiles."""
    counts = context.counts[launch]
    count = counts[0]
    if (
        not count.from_meta
        and len(counts) == 1
        and enclosing_function(context.module.source, count.count_node) is launch.function
    ):
        return ast.unparse(count.count_node)
    tile = launch.arguments.get(context.tile)
    if tile is not None:
        spelled = ast.unparse(tile)
    else:
        binding = trace_tile(context.module, launch, context.tile)
        if binding.container is None or binding.key is None:
            raise refuse("tile_belongs_to_autotuner", launch.call, tile=context.tile)
        spelled = f"{ast.unparse(binding.container)}[{binding.key!r}]"
    return ceiling_text(context.module, ast.unparse(count.dimension), spelled, launch.call)


def _body(kernel: KernelDef) -> list[ast.stmt]:
    """The kernel's statements without its docstring."""
    body = kernel.node.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[1:]
    return body


def _problems(context: FusionContext, sliced: TileSlice) -> list[Refusal]:
    found: list[Refusal] = []
    for name in sorted(sliced.carried):
        found.append(refusal("carried_across_tiles", context.kernel.node, name=name))
    for statement in sliced.repeated:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Return, ast.Break, ast.Continue)) and not _in_own_loop(statement, node):
                found.append(refusal("exit_between_tiles", node, also=[statement], axis=context.name))
    first = sliced.repeated[0].lineno if sliced.repeated else 0
    for statement in sliced.once:
        if statement.lineno > first and any(isinstance(n, ast.Return) for n in ast.walk(statement)):
            found.append(refusal("exit_between_tiles", statement, axis=context.name))
    return found or _nothing_shared(context, sliced)


def _in_own_loop(statement: ast.stmt, node: ast.AST) -> bool:
    """True for a break or continue that stays inside a loop of the statement."""
    if isinstance(node, ast.Return):
        return False
    return any(isinstance(n, (ast.For, ast.While)) and any(m is node for m in ast.walk(n)) for n in ast.walk(statement))


def _nothing_shared(context: FusionContext, sliced: TileSlice) -> list[Refusal]:
    """A loop that leaves all shared work inside saves nothing."""
    once = {n for s in sliced.once for n in ast.walk(s)}
    shared = redundant_work(context.facts, context.axis)
    if any(_kernel_node(context.facts, w.line, once) for w in shared):
        return []
    loops = [
        s
        for s in sliced.repeated
        if isinstance(s, (ast.For, ast.While)) and any(s.lineno <= w.line <= (s.end_lineno or s.lineno) for w in shared)
    ]
    if loops:
        return [refusal("loop_carried_across_tiles", loops[0], also=[w.line for w in shared])]
    return [
        refusal(
            "nothing_to_hoist",
            context.kernel.node,
            also=[w.line for w in shared],
            kernel=context.kernel.name,
            axis=context.name,
        )
    ]


def _kernel_node(facts: Facts, line: int, once: set[ast.AST]) -> bool:
    return any(isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or n.lineno) for n in once)


def _rewritten_body(
    context: FusionContext, sliced: TileSlice, names: AxisNames, body: list[ast.stmt], *, exact: bool
) -> Edit:
    """The text from the first statement that changes to the end of the kernel."""
    source = context.module.source
    parts = segments(source, body)
    by_statement = {s.statement: s for s in parts}
    start = source.line_start(parts[0].first)
    end = source.line_start(parts[-1].last + 1)
    unit = indent_unit(source, context.kernel.node, body[0])
    rename = names.edits(source)
    once = [segment_text(source, by_statement[s], rename, "") for s in sliced.once]
    loop = [segment_text(source, by_statement[s], rename, unit) for s in sliced.repeated]
    if loop:
        loop[0] = loop[0].lstrip("\r\n")
    header = _header(context, names, source.indent(body[0]), unit, exact=exact)
    text = "".join([*once, *(line + source.newline for line in header), *loop])
    if not text.endswith(("\n", "\r")) and end < len(source.text):
        text += source.newline
    return Edit(start, end, text)


def _header(context: FusionContext, names: AxisNames, indent: str, unit: str, *, exact: bool) -> list[str]:
    group, tile = names.group, names.name
    lines = [f"{indent}# One program walks {PARAMETER} tiles; what they have in common is done once, above."]
    if _asks_for_tensor(context, tile):
        # A loop variable may be a plain number: the index stays what the program id made it.
        step = _fresh(context, f"{tile}_step")
        count = f"min({PARAMETER}, {_tile_count(context)} - {group} * {PARAMETER})" if exact else PARAMETER
        return [
            *lines,
            f"{indent}for {step} in range({count}):",
            f"{indent}{unit}{tile} = {group} * {PARAMETER} + {step}",
        ]
    end = f"({group} + 1) * {PARAMETER}"
    if exact:
        end = f"min({end}, {_tile_count(context)})"
    return [*lines, f"{indent}for {tile} in range({group} * {PARAMETER}, {end}):"]


def _tile_count(context: FusionContext) -> str:
    """How the kernel can write the number of tiles. Raises Refuse where it does not know the dimension."""
    parameter = context.dimension_parameter()
    if parameter is None:
        raise refuse("non_pow2_unmasked", context.kernel.node, axis=context.name, dim=ast.unparse(context.dimension))
    if any(count.floor_division for counts in context.counts.values() for count in counts):
        return f"{parameter} // {context.tile}"
    return f"{language_name(context.module)}.cdiv({parameter}, {context.tile})"


def _asks_for_tensor(context: FusionContext, name: str) -> bool:
    """True where the kernel calls a method of the index, or passes it to a function of its own."""
    for node in ast.walk(context.kernel.node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            return True
        if isinstance(node, ast.Call) and context.module.names.dotted(node.func) is None:
            arguments = [*node.args, *(k.value for k in node.keywords)]
            if any(isinstance(a, ast.Name) and a.id == name for a in arguments):
                return True
    return False


def _fresh(context: FusionContext, name: str) -> str:
    if name in {n.id for n in ast.walk(context.kernel.node) if isinstance(n, ast.Name)} | set(
        context.kernel.parameter_names
    ):
        raise refuse("name_taken", context.kernel.node, name=name, scope=context.kernel.name)
    return name


PRIMITIVE = Primitive(
    "fuse_axis_loop", fuse_axis_loop, NumericsClass.REASSOCIATED, ("tiles_per_program", "axis", "merge")
)
