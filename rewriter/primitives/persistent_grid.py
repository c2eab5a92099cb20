"""persistent_grid: start about as many programs as stay resident, and let each take work in strides.

rewrite:  w = tl.load(w_ptr + r)             w = tl.load(w_ptr + r)
          pid = tl.program_id(0)         ->  for pid in range(tl.program_id(0), programs, tl.num_programs(0)):
          store(y + pid * N + r, ... * w)        store(y + pid * N + r, ... * w)
          kernel[(M,)](x, w, y)              resident = 4 * multiprocessors of x's device
                                             kernel[(min(M, resident),)](x, w, y, programs=M)

A parameter that the kernel sets again (`x += pid * stride`) gets a name of its own in each round.
What no program's number changes is done once, before the loop, where nothing that the kernel writes lies between. On
a device without multiprocessors (the interpreter's) the number of programs is the factor itself.

Conditions
    - the grid has one axis, and the kernel asks for its program number at the top level of its own body;
    - no exit in what is repeated, and no program that waits for another;
    - every launch can be read, and its grid serves nothing else.

Numerics
    `bitwise`: each piece of work is computed as before.

Refuses: already_applied, grid_has_axes, carried_across_tiles, exit_between_tiles, grid_barrier, opaque_call,
unguarded_invariant_store, bad_setting, unreadable_launch, no_launch_site, tile_shared, name_taken, unknown_construct.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.axes import Axis
from ..analysis.facts import Facts, analyse
from ..analysis.flow import flow_of
from ..analysis.helpers import axis_of, helper_calls, program_calls
from ..analysis.plain_numbers import PlainNumbers
from ..analysis.tile_slice import TileSlice, accesses_in, called_name, slice_body
from ..conditions.aliases import aliases_of
from ..conditions.own_grid import own_grids, size_at_launch, size_in_kernel, unreadable
from ..conditions.own_programs import require_asked_itself
from ..conditions.tensors import sure_tensors, tensor_at, torch_at
from ..kernel.changes import Changes, Spot
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.grid import Grid, GridChoice, meta_function
from ..kernel.insert import insert_parameters
from ..kernel.launch import Launch, readable_launches
from ..kernel.plain import written
from ..kernel.scope import enclosing_function, reaching, statement_of
from ..kernel.segments import indent_unit, segment_text, segments
from ..reasons import refuse
from .base import Primitive
from .names import language_name, names_in_use

PARAMETER = "programs"
"""Parameter that says how many pieces of work there are."""
RESIDENT = "resident"
"""Local name of the launcher for the programs that are started at most."""
_WAITS = frozenset({"atomic_cas", "atomic_xchg", "gdc_wait", "gdc_launch_dependents"})


def persistent_grid(module: Module, kernel: KernelDef, *, per_multiprocessor: int = 4) -> list[Edit]:
    """Edits that let at most `per_multiprocessor` programs a multiprocessor do all the work. Raises Refuse."""
    if type(per_multiprocessor) is not int or per_multiprocessor < 1:
        why = "it is a number of programs"
        raise refuse("bad_setting", kernel.node, setting="per_multiprocessor", value=per_multiprocessor, why=why)
    launches = readable_launches(module, kernel)
    grids = own_grids(module, launches)
    if len(next(iter(grids.values())).dims) != 1:
        raise refuse("grid_has_axes", launches[0].call, kernel=kernel.name)
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    calls = _program_ids(module, kernel)
    facts = analyse(module, kernel)
    _require_independent(module, kernel)
    body = _body(kernel)
    sliced = slice_body(facts, Axis("0"), body, aliases_of(module, launches), frozenset())
    _require_repeatable(facts, sliced)
    changes = Changes()
    count = _host(module, facts, grids, changes, language, per_multiprocessor)
    edits = changes.edits(module)
    taken = names_in_use(module, kernel)
    if PARAMETER in taken:
        raise refuse("name_taken", kernel.node, name=PARAMETER, scope=kernel.name)
    if count == PARAMETER:
        default = " = None" if kernel.node.args.defaults else ""
        edits += insert_parameters(module.source, kernel.node, [PARAMETER + default])
    return [*edits, _looped(module, kernel, body, sliced, calls, count, language)]


# -- what must hold ----------------------------------------------------------------------------------------------------


def _program_ids(module: Module, kernel: KernelDef) -> list[ast.Call]:
    """Calls of `program_id(0)`. Raises Refuse."""
    found = []
    for call, name in program_calls(module, kernel):
        if name == "num_programs":
            around = module.source.parents[call]
            strides = isinstance(around, ast.Call) and called_name(around) == "range"
            code = "already_applied" if strides else "grid_barrier"
            raise refuse(code, call, kernel=kernel.name, skeleton="persistent_grid", axis="the grid")
        axis = axis_of(call)
        if axis is None or call.lineno != call.end_lineno:
            raise refuse("unknown_construct", call, construct="a program id of an axis that is no literal")
        if axis == 0:
            found.append(call)
    require_asked_itself(module, kernel)
    if not found:
        raise refuse("unknown_construct", kernel.node, construct="a helper that reads program ids")
    return found


def _require_independent(module: Module, kernel: KernelDef) -> None:
    """Raises Refuse(grid_barrier) where a program may wait for another."""
    bodies = [(kernel.node, None), *((k.node, call) for call, _, k in helper_calls(module, kernel))]
    for function, call in bodies:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and called_name(node) in _WAITS:
                raise refuse("grid_barrier", call or node, axis=called_name(node))


def _require_repeatable(facts: Facts, sliced: TileSlice) -> None:
    kernel = facts.kernel
    for name in sorted(sliced.carried & kernel.constexprs):
        where = next(n for s in sliced.repeated for n in ast.walk(s) if _sets(n, name))
        raise refuse("carried_across_tiles", where, name=name)
    for unknown in facts.unknowns:
        if isinstance(unknown.node, ast.Call):
            raise refuse("opaque_call", unknown.node, callee=unknown.what)
        raise refuse("unknown_construct", unknown.node, construct=unknown.what)
    for statement in sliced.repeated:
        for node in ast.walk(statement):
            if isinstance(node, ast.Return):
                raise refuse("exit_between_tiles", node, axis="the programs")
            if isinstance(node, ast.AnnAssign):
                raise refuse("unknown_construct", node, construct="an annotated name inside a loop")
    for statement in sliced.once:
        if any(a.kind != "load" for a in accesses_in(facts, statement)):
            raise refuse("unguarded_invariant_store", statement, axis="the programs", name="memory")
    if not sliced.repeated:
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="persistent_grid")


def _sets(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def _body(kernel: KernelDef) -> list[ast.stmt]:
    """The kernel's statements without its docstring."""
    first = kernel.node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return kernel.node.body[1:]
    return kernel.node.body


# -- the kernel --------------------------------------------------------------------------------------------------------


def _looped(
    module: Module,
    kernel: KernelDef,
    body: list[ast.stmt],
    sliced: TileSlice,
    calls: list[ast.Call],
    count: str,
    language: str,
) -> Edit:
    """The body as the statements that are done once, and a loop over the others."""
    source = module.source
    parts = segments(source, body)
    by_statement = {s.statement: s for s in parts}
    unit, indent = indent_unit(source, kernel.node, body[0]), source.indent(body[0])
    start, end = source.line_start(parts[0].first), source.line_start(parts[-1].last + 1)
    named = _named_id(module, kernel, sliced, calls)
    variable = named[1] if named is not None else "i_program"
    if named is None and variable in names_in_use(module, kernel):
        raise refuse("name_taken", kernel.node, name=variable, scope=kernel.name)
    edits = [] if named else [Edit(*source.span(c), f"{language}.cast({variable}, {language}.int32)") for c in calls]
    own = {name: f"{name}_item" for name in kernel.parameter_names if name in sliced.carried}
    for name in own.values():
        if name in names_in_use(module, kernel):
            raise refuse("name_taken", kernel.node, name=name, scope=kernel.name)
    edits += _renamed(module, sliced, own)
    repeated = [s for s in sliced.repeated if named is None or s is not named[0]]
    once = [segment_text(source, by_statement[s], [], "") for s in sliced.once]
    loop = [segment_text(source, by_statement[s], edits, unit) for s in repeated]
    loop[0] = loop[0].lstrip("\r\n")
    head = f"range({language}.program_id(0), {count}, {language}.num_programs(0))"
    copies = [f"{indent}{unit}{new} = {name}{source.newline}" for name, new in own.items()]
    text = "".join([*once, f"{indent}for {variable} in {head}:{source.newline}", *copies, *loop])
    return Edit(start, end, text)


def _renamed(module: Module, sliced: TileSlice, own: dict[str, str]) -> list[Edit]:
    """Parameters that the kernel sets again become names of each piece of work, so that none starts from another's."""
    return [
        Edit(*module.source.span(n), own[n.id])
        for s in sliced.repeated
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and n.id in own
    ]


def _named_id(
    module: Module, kernel: KernelDef, sliced: TileSlice, calls: list[ast.Call]
) -> tuple[ast.stmt, str] | None:
    """The statement `pid = tl.program_id(0)` whose name can be the loop's own; None where it has to be a tensor.

    A loop's variable may be a plain number, which has no methods and no place in a helper.
    """
    if len(calls) != 1:
        return None
    statement = module.source.parents[calls[0]]
    if not (isinstance(statement, ast.Assign) and statement in sliced.repeated and len(statement.targets) == 1):
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None
    numbers = PlainNumbers(module, kernel, flow_of(kernel.node), frozenset({target.id}))
    for node in ast.walk(kernel.node):
        if isinstance(node, ast.Name) and node.id == target.id and node is not target:
            if isinstance(node.ctx, ast.Store) or not _ends_in_tensor(module, node, numbers):
                return None
    return (statement, target.id) if len(sliced.repeated) > 1 else None


def _ends_in_tensor(module: Module, node: ast.expr, numbers: PlainNumbers) -> bool:
    """True where arithmetic with a tensor for sure takes the number up before a name, a method or a call does."""
    around = module.source.parents[node]
    while isinstance(around, (ast.BinOp, ast.Compare)):
        if not numbers.may_be(around):
            return True
        around = module.source.parents[around]
    return False


# -- the launcher ------------------------------------------------------------------------------------------------------


def _host(module: Module, facts: Facts, grids: dict[Launch, Grid], changes: Changes, language: str, factor: int) -> str:
    """Changes of every launch; what the kernel calls the number of pieces of work. Raises Refuse."""
    tensors = sure_tensors(facts.kernel, facts.accesses)
    passed = all(
        len(g.choices) == 1 and size_at_launch(module, launch, g.choices[0], 0) is not None
        for launch, g in grids.items()
    )
    texts = {size_in_kernel(module, x, c, 0, language) for x, g in grids.items() for c in g.choices}
    text = PARAMETER if passed else texts.pop() if len(texts) == 1 else None
    again = {n.id for n in ast.walk(facts.kernel.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if text is None or (not passed and again & {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}):
        raise unreadable(next(iter(grids)), "the number of programs can be written neither there nor in the kernel")
    for launch, grid in grids.items():
        if "launch_cooperative_grid" in launch.options:
            raise unreadable(launch, "it is launched as a cooperative grid")
        if passed:
            changes.add_keyword(launch.call, PARAMETER, written(module, grid.choices[0].dims[0]))
        torch = torch_at(module, launch)
        tensor = written(module, tensor_at(launch, tensors))
        asked = f"{torch}.cuda.get_device_properties({tensor}.device).multi_processor_count"
        line = f"{RESIDENT} = {factor} * ({asked} if {tensor}.is_cuda else 1)"
        for choice in grid.choices:
            changes.add_line(_spot(module, launch, choice, tensor_at(launch, tensors)), line)
            dim = choice.dims[0]
            changes.replace(module, dim, f"min({written(module, dim)}, {RESIDENT})")
    return text


def _spot(module: Module, launch: Launch, choice: GridChoice, tensor: ast.expr) -> Spot:
    """Right before the grid is made, where the tensor must be what it is at the launch. Raises Refuse."""
    source = module.source
    around = meta_function(module, choice.node) if choice.meta is not None else None
    node: ast.AST = around if around is not None else choice.node
    statement = node if isinstance(node, ast.FunctionDef) else statement_of(source, node)
    if launch.function is None or enclosing_function(source, statement) is not launch.function:
        raise unreadable(launch, "its grid is made outside the function that launches")
    local = {n.id for n in ast.walk(launch.function) if isinstance(n, ast.Name)}
    local |= {a.arg for a in ast.walk(launch.function) if isinstance(a, ast.arg)}
    if RESIDENT in local:
        raise refuse("name_taken", launch.call, name=RESIDENT, scope=launch.function.name)
    for name in (n for n in ast.walk(tensor) if isinstance(n, ast.Name)):
        here = reaching(source, name.id, statement)
        if not here or set(here) != set(reaching(source, name.id, launch.call)):
            raise unreadable(launch, f"{name.id} is set after its grid is made")
    return Spot(statement, before=True)


PRIMITIVE = Primitive("persistent_grid", persistent_grid, NumericsClass.BITWISE, ("per_multiprocessor",))
