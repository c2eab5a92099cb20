"""parallelise_loop: give every round of an independent loop a program of its own.

rewrite:  for i in range(tl.cdiv(N, BN)):         ->  steps = tl.cdiv(N, BN)
              store(y + i * BN + r, f(i))             i = tl.program_id(0) % steps
                                                      if i < steps:
                                                          store(y + i * BN + r, f(i))
          kernel[(M,)](x, y, N)                       kernel[(M * triton.cdiv(N, BN),)](x, y, N)

The rounds join the first axis of the grid, which does not end at 65,535 programs, and are its fastest part; what the
kernel called `program_id(0)` becomes `program_id(0) // steps`. Statements around the loop run once a round.

Conditions
    - a loop at the top level over `range(limit)` or `range(0, limit, step)`, whose bounds are made of parameters, so
      that the launcher knows them too, and not of numbers alone;
    - no round reads what another set, in names or in memory, nothing after the loop reads what it set, and no round
      leaves the loop;
    - each store of the loop has a place that moves with the round; nothing is stored outside the loop;
    - no other loop that every round would repeat; every launch can be read, and its grid serves nothing else.

Numerics
    `bitwise`: each round computes what it did.

Refuses: pattern_not_found, loop_bound_unknown, loop_not_independent, grid_barrier, opaque_call, unreadable_launch,
no_launch_site, tile_shared, name_taken, unknown_construct.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.axes import Axis
from ..analysis.facts import Facts, analyse
from ..analysis.flow import Flow, flow_of
from ..analysis.lanes import written_bases
from ..analysis.poly import Poly
from ..analysis.statements import names_read, names_set, read_before_set
from ..conditions.aliases import aliases_of
from ..conditions.loop_count import CountWriter, LoopCount, counted_loop
from ..conditions.own_grid import own_grids
from ..conditions.own_programs import program_ids
from ..kernel.changes import Changes
from ..kernel.definition import KernelDef, Module, load_module
from ..kernel.edits import Edit, apply_edits
from ..kernel.insert import insert_lines
from ..kernel.launch import Launch, readable_launches
from ..kernel.plain import written
from ..reasons import Refuse, refuse
from .base import Primitive
from .names import language_name, names_in_use

STEPS = "steps"
"""Name of the number of rounds, in the kernel."""


def parallelise_loop(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that give the first independent loop of the kernel a part of the grid. Raises Refuse."""
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    loops = [s for s in kernel.node.body if isinstance(s, (ast.For, ast.While))]
    if not loops:
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="parallelise_loop")
    if len(loops) > 1:
        raise _dependent(loops[1], "every round would repeat the other loop of the kernel")
    if not isinstance(loops[0], ast.For):
        raise refuse("loop_bound_unknown", loops[0], why="it has no counter")
    flow = flow_of(kernel.node)
    count = counted_loop(module, flow, loops[0])
    _require_no_carry(kernel, flow, count)
    launches = readable_launches(module, kernel)
    calls = [call for call, axis in program_ids(module, kernel) if axis == 0]
    writer = CountWriter(module, flow, count, language)
    steps = writer.in_kernel()
    if not any(c.isalpha() for c in steps.replace(f"{language}.cdiv", "")) or steps in kernel.constexprs:
        raise refuse("pattern_not_found", count.loop, kernel=kernel.name, skeleton="parallelise_loop")
    if STEPS in names_in_use(module, kernel):
        raise refuse("name_taken", kernel.node, name=STEPS, scope=kernel.name)
    edits = _kernel_edits(module, kernel, count, calls, steps, language)
    changes = Changes()
    for launch, grid in own_grids(module, launches).items():
        for choice in grid.choices:
            dim = choice.dims[0]
            text = f"{_factor(written(module, dim), dim)} * {writer.at_launch(launch, choice)}"
            changes.replace(module, dim, text)
    edits += changes.edits(module)
    _require_apart(module, kernel, launches, count, edits)
    return edits


def _factor(text: str, node: ast.expr) -> str:
    return text if isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)) else f"({text})"


# -- what must hold ----------------------------------------------------------------------------------------------------


def _require_no_carry(kernel: KernelDef, flow: Flow, count: LoopCount) -> None:
    loop = count.loop
    if flow.opaque:
        what = flow.opaque[0]
        raise _dependent(what, f"`{type(what).__name__.lower()}` may end it or is not followed")
    for node in ast.walk(loop):
        if isinstance(node, ast.Return):
            raise _dependent(node, "a round may leave the kernel")
    set_inside = frozenset(n for s in loop.body for n in names_set(s)) | {count.name}
    carried = sorted((set_inside - {count.name}) & read_before_set(loop.body))
    if carried:
        raise _dependent(loop, f"{carried[0]} carries a value from one round to the next")
    if count.name in frozenset(n for s in loop.body for n in names_set(s)):
        raise _dependent(loop, f"{count.name} is set again inside")
    after = kernel.node.body[kernel.node.body.index(loop) + 1 :]
    seen = sorted(set_inside & frozenset(n for s in after for n in names_read(s)))
    if seen:
        raise _dependent(loop, f"{seen[0]} is read after it")


def _require_apart(
    module: Module, kernel: KernelDef, launches: tuple[Launch, ...], count: LoopCount, edits: list[Edit]
) -> None:
    """Analyses the result, in which the round is an axis: each place that is written must move along it."""
    after = load_module(apply_edits(module.source.text, edits), module.source.path)
    facts = analyse(after, after.kernels_named(kernel.name)[0])
    axis = _axis(facts)
    if axis is None:
        raise _dependent(count.loop, "the analysis does not follow its variable")
    if facts.unknowns:
        raise _dependent(count.loop, f"`{facts.unknowns[0].what}` is not followed")
    written_names = written_bases(facts, aliases_of(module, launches))
    for load in facts.loads:
        if load.pointer.bases & written_names or not load.pointer.bases:
            raise _dependent(count.loop, "the kernel reads memory that it writes", load.line)
    body = facts.kernel.node.body
    guard = next(s for s in body if isinstance(s, ast.If) and ast.unparse(s.test).endswith(f"< {_limit(count)}"))
    inside = set(ast.walk(guard))
    for store in facts.stores:
        if store.kind != "store":
            raise _dependent(count.loop, "it holds an atomic", store.line)
        if store.top not in inside:
            raise _dependent(count.loop, "the kernel stores outside it", store.line)
        if not _steps_clear(store.pointer.poly, axis, kernel.constexprs):
            raise _dependent(count.loop, "rounds are not proved to store to places apart", store.line)
    for base in {b for s in facts.stores for b in s.pointer.bases}:
        places = {s.pointer.poly for s in facts.stores if base in s.pointer.bases}
        if len(places) > 1:
            raise _dependent(count.loop, f"it stores to {base} at places that may meet", facts.stores[0].line)
    if not facts.stores:
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="parallelise_loop")


def _steps_clear(poly: Poly | None, axis: Axis, constexprs: frozenset[str]) -> bool:
    """True where each round has a tile of its own: `round * BLOCK + arange(BLOCK)`, times sizes known when compiling.

    A run-time stride may be zero or shorter than the tile, and a loaded index may come twice.
    """
    if poly is None or any(atom.kind == "axis" and axis in atom.axes for atom in poly.atoms):
        return False
    for monomial, coefficient in poly.terms:
        lanes = [a for a in monomial if a.kind == "lane" and axis in a.axes]
        rest = [a for a in monomial if a not in lanes]
        if len(lanes) == 1 and coefficient != 0 and all(a.kind == "sym" and a.key in constexprs for a in rest):
            return True
    return False


def _axis(facts: Facts) -> Axis | None:
    """The part of the first program id that counts the rounds."""
    for events in facts.runs:
        for node, value in events.values.items():
            atom = value.poly.sole_atom() if value.poly is not None else None
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and atom is not None:
                if isinstance(node.right, ast.Name) and node.right.id == STEPS and atom.kind == "axis":
                    return atom.axis
    return None


def _dependent(where: ast.AST, why: str, also: int | None = None) -> Refuse:
    return refuse("loop_not_independent", where, also=[] if also is None else [also], why=why)


# -- the kernel --------------------------------------------------------------------------------------------------------


def _kernel_edits(
    module: Module, kernel: KernelDef, count: LoopCount, calls: list[ast.Call], steps: str, language: str
) -> list[Edit]:
    source, loop = module.source, count.loop
    edits = []
    for call in calls:
        around = source.parents[call]
        alone = isinstance(around, (ast.Assign, ast.Tuple, ast.keyword))
        text = f"{language}.program_id(0) // {STEPS}"
        edits.append(Edit(*source.span(call), text if alone else f"({text})"))
    body = kernel.node.body
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    line = insert_lines(source, None, body[1] if is_docstring else body[0], [f"{STEPS} = {steps}"])
    head = source.text[source.span(loop)[0] : source.span(loop.body[0])[0]]
    if line is None or loop.body[0].lineno == loop.lineno or body.index(loop) == (1 if is_docstring else 0):
        raise refuse("unknown_construct", loop, construct="a loop that is the first line of its kernel")
    start = source.span(loop)[0]
    end = start + _header_end(head)
    index = f"{language}.program_id(0) % {STEPS}"
    if count.step is not None:
        index = f"({index}) * {_factor(written(module, count.step), count.step)}"
    indent = source.indent(loop)
    text = f"{count.name} = {index}{source.newline}{indent}if {count.name} < {_limit(count)}:"
    return [*edits, line, Edit(start, end, text)]


def _limit(count: LoopCount) -> str:
    text = ast.unparse(count.limit)
    return f"({text})" if isinstance(count.limit, ast.Compare) else text


def _header_end(head: str) -> int:
    """Where the colon of `for ...:` ends: the first one outside brackets."""
    depth = 0
    for at, character in enumerate(head):
        depth += (character in "([{") - (character in ")]}")
        if character == ":" and depth == 0:
            return at + 1
    raise ValueError("a loop without a colon")


PRIMITIVE = Primitive("parallelise_loop", parallelise_loop, NumericsClass.BITWISE)
