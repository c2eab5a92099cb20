"""hoist_producer: compute what all tiles of an axis have in common once, in a small kernel before.

rewrite:  k = load(k_ptr)                            k_producer kernel: k = load(k_ptr)
          k = k / sqrt(sum(k * k))                                      k = k / sqrt(sum(k * k))
          store(o + i_v * BV + r, f(k, i_v))     ->                     store(producer + ..., k)
                                                     kernel:            k = load(producer + ...)
                                                                        store(o + i_v * BV + r, f(k, i_v))
          kernel[(NV, B)](k_ptr, ...)                producer = torch.empty(B * BK, dtype=torch.float32, ...)
                                                     producer_kernel[(1, B)](k_ptr, ..., producer)
                                                     kernel[(NV, B)](k_ptr, ..., producer=producer)

The statements move as they stand; the grid of the new kernel has one program along the axis. Each launch gets its own
scratch, allocated beside it, and what a launch says of warps holds for both kernels.

Conditions
    - work that repeats in every tile of an axis that is a grid dimension of its own, at the top level of the kernel;
    - the values it ends in are proved fp32, or fp64 where a tensor they are made of is (so is the scratch then), are
      scalars or blocks of one or two dimensions sized by constexpr parameters, and are set on every path;
    - what computes them reads no memory that the kernel writes, and no exit that differs between tiles stands before
      (one that tiles share leaves the new kernel as well, without what it writes before it leaves);
    - every launch can be read: grid, arguments and sizes are plain expressions.

Numerics
    `contracted`: the scratch is as wide as the values, so that nothing is rounded, but two kernels are compiled apart:
    a reduction may add in another order, and a product that was fused with a later addition is rounded on its own.

Refuses: already_applied, no_tiled_axis, no_redundant_work, loop_carried_across_tiles, nothing_to_hoist,
exit_between_tiles, grid_barrier, producer_not_saved, axis_flattened, tile_belongs_to_autotuner, unreadable_launch,
no_launch_site, name_taken, unknown_construct.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.axes import Axis
from ..analysis.facts import Facts, analyse
from ..analysis.flow import flow_of
from ..analysis.producer_slice import ProducerSlice, Saved, Slicer, exit_test
from ..analysis.scratch import bracketed, numel, places, program
from ..analysis.tile_slice import accesses_in, called_name
from ..analysis.types import TypeAnalysis
from ..conditions.aliases import aliases_of
from ..conditions.producer_launch import ProducerLaunch, needed_parameters, producer_launches
from ..conditions.redundant_work import redundant_work
from ..conditions.tensors import made_by_launcher, sure_tensors, tensor_at
from ..kernel.changes import Changes, Spot
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.insert import insert_parameters
from ..kernel.launch import Launch, readable_launches
from ..kernel.plain import written
from ..kernel.segments import Segment, segments
from ..kernel.source import SourceFile
from ..kernel.templates import render
from ..reasons import Refuse, refuse
from .base import Primitive
from .names import language_name, names_in_use

SCRATCH = "producer"
"""Name of the scratch, in the kernels and in the launcher."""
_ORDERS_LAUNCHES = frozenset({"gdc_wait", "gdc_launch_dependents"})
"""Calls that tie the kernel to the launch before it."""


def hoist_producer(module: Module, kernel: KernelDef, *, axis: str | None = None) -> list[Edit]:
    """Edits that move work of the axis with the most of it (or of the axis called `axis`) into a kernel before.

    Raises Refuse.
    """
    _require_plain_kernel(module, kernel)
    facts = analyse(module, kernel)
    launches = readable_launches(module, kernel)
    chosen, sliced = _choose(facts, launches, axis)
    number = int(chosen.root)
    tensors = sure_tensors(kernel, [a for s in sliced.moved for a in accesses_in(facts, s)])
    widening = frozenset(n for one in sliced.saved for n in one.widens) - frozenset(tensors)
    if not all(made_by_launcher(module, launches, n) for n in widening):
        raise refuse("producer_not_saved", sliced.moved[0], axis=facts.axis_name(chosen))
    hosts = producer_launches(module, launches, number, needed_parameters(module, kernel, sliced), tensors)
    language = language_name(module, kernel)
    assert language is not None
    names = _Names(module, kernel, launches)
    body = _body(kernel)
    base = f"{SCRATCH} + {program(language, number, hosts[0].rank)} * {bracketed(numel(sliced.saved))}"
    if hosts[0].rank == 1:
        base = SCRATCH
    edits = _consumer(module, body, sliced, names, base, language)
    default = " = None" if kernel.node.args.defaults else ""
    edits += insert_parameters(module.source, kernel.node, [SCRATCH + default])
    edits.append(_producer(module, kernel, sliced, hosts[0], names, base, language))
    changes = Changes()
    for host in hosts:
        _host(module, changes, host, names, sliced.saved)
    return edits + changes.edits(module)


def _require_plain_kernel(module: Module, kernel: KernelDef) -> None:
    if kernel.node not in module.source.tree.body or kernel.node.args.vararg or kernel.node.args.kwonlyargs:
        raise refuse("unknown_construct", kernel.node, construct="a kernel in a function or with keyword-only names")
    if language_name(module, kernel) is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    for node in ast.walk(kernel.node):
        if isinstance(node, ast.Call) and called_name(node) in _ORDERS_LAUNCHES:
            raise refuse("grid_barrier", node, axis=called_name(node))
    if SCRATCH in kernel.parameter_names:
        raise refuse("already_applied", kernel.node, kernel=kernel.name, skeleton="hoist_producer")
    if SCRATCH in names_in_use(module, kernel):
        raise refuse("name_taken", kernel.node, name=SCRATCH, scope=kernel.name)


def _choose(facts: Facts, launches: tuple[Launch, ...], wanted: str | None) -> tuple[Axis, ProducerSlice]:
    """The axis whose repeated work can move, the one with the most work first."""
    kernel = facts.kernel
    tiled = [a for a in facts.tiled_axes if wanted is None or facts.axis_name(a) == wanted]
    if not tiled:
        raise refuse("no_tiled_axis", kernel.node, kernel=kernel.name)
    ranked = sorted(tiled, key=lambda a: -len(redundant_work(facts, a)))
    first: Refuse | None = None
    for axis in ranked:
        try:
            return axis, _sliced(facts, launches, axis)
        except Refuse as refused:
            first = first or refused
    assert first is not None
    raise first


def _sliced(facts: Facts, launches: tuple[Launch, ...], axis: Axis) -> ProducerSlice:
    kernel, name = facts.kernel, facts.axis_name(axis)
    work = redundant_work(facts, axis)
    lines = [w.line for w in work]
    if not work:
        raise refuse("no_redundant_work", kernel.node, axis=name)
    if axis.steps or not axis.root.isdigit():
        raise refuse("axis_flattened", lines[0], also=lines[1:], axis=name)
    if int(axis.root) in facts.program_counts:
        raise refuse("grid_barrier", kernel.node, axis=name)
    body = _body(kernel)
    flow = flow_of(kernel.node)
    slicer = Slicer(
        facts, flow, TypeAnalysis(facts.module, kernel, flow), axis, body, aliases_of(facts.module, launches)
    )
    sliced = slicer.slice(lines)
    if any(_holds(s, line) for s in sliced.dropped for line in lines):
        return sliced
    if not any(_holds(s, line) for s in slicer.movable for line in lines):
        raise _immovable(kernel, slicer, name, lines)
    raise refuse("producer_not_saved", lines[0], also=lines[1:], axis=name)


def _immovable(kernel: KernelDef, slicer: Slicer, name: str, lines: list[int]) -> Refuse:
    fixed = [s for s in slicer.body if s not in slicer.movable]
    loops = [s for s in fixed if isinstance(s, (ast.For, ast.While)) and any(_holds(s, n) for n in lines)]
    if loops:
        return refuse("loop_carried_across_tiles", loops[0], also=lines)
    exits = [n for s in fixed for n in ast.walk(s) if isinstance(n, ast.Return) and n.lineno < lines[0]]
    if exits:
        return refuse("exit_between_tiles", exits[0], also=lines, axis=name)
    return refuse("nothing_to_hoist", kernel.node, also=lines, kernel=kernel.name, axis=name)


def _holds(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _body(kernel: KernelDef) -> list[ast.stmt]:
    """The kernel's statements without its docstring."""
    first = kernel.node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return kernel.node.body[1:]
    return kernel.node.body


# -- the two kernels ---------------------------------------------------------------------------------------------------


class _Names:
    """New names, checked to be free."""

    def __init__(self, module: Module, kernel: KernelDef, launches: tuple[Launch, ...]) -> None:
        self.kernel = f"{kernel.name.removesuffix('_kernel')}_producer_kernel"
        self.pointer = f"p_{SCRATCH}"
        local = {n.id for x in launches if x.function for n in ast.walk(x.function) if isinstance(n, ast.Name)}
        local |= {a.arg for x in launches if x.function for a in ast.walk(x.function) if isinstance(a, ast.arg)}
        for name, taken in (
            (self.kernel, names_in_use(module, kernel) | local),
            (self.pointer, names_in_use(module, kernel)),
            (SCRATCH, local),
        ):
            if name in taken:
                raise refuse("name_taken", kernel.node, name=name, scope=kernel.name)


def _consumer(
    module: Module, body: list[ast.stmt], sliced: ProducerSlice, names: _Names, base: str, language: str
) -> list[Edit]:
    """The kernel without the statements that moved, each saved value loaded where it was last set."""
    source = module.source
    at = places(sliced.saved, names.pointer, language)
    edits = []
    first = True
    for segment in segments(source, body):
        statement = segment.statement
        loads = [
            f"{one.name} = {language}.load({at[one.name]}){_narrowed(one, sliced.saved, language)}"
            for one in sliced.saved
            if one.after is statement
        ]
        if statement not in sliced.dropped:
            continue
        if loads and first:
            loads.insert(0, f"{names.pointer} = {base}")
            first = False
        text = "".join(f"{source.indent(statement)}{line}{source.newline}" for line in loads)
        start, end = source.line_start(_own_first(source.lines, segment)), source.line_start(segment.last + 1)
        edits.append(Edit(start, end, text))
    return edits


def _narrowed(one: Saved, saved: tuple[Saved, ...], language: str) -> str:
    """A cast for what is fp32 in a scratch that may be wider."""
    return f".to({language}.float32)" if not one.widens and any(s.widens for s in saved) else ""


def _own_first(lines: list[str], segment: Segment) -> int:
    """First line of a statement with the comments right above it; blank lines and what lies above them stay."""
    first = segment.statement.lineno
    while first > segment.first and lines[first - 2].strip():
        first -= 1
    return first


def _producer(
    module: Module,
    kernel: KernelDef,
    sliced: ProducerSlice,
    host: ProducerLaunch,
    names: _Names,
    base: str,
    language: str,
) -> Edit:
    source = module.source
    indent = source.indent(sliced.moved[0])
    chosen = [s for s in segments(source, _body(kernel)) if s.statement in sliced.moved]
    lines = [line for s in chosen for line in _moved_lines(source, s)]
    body = "".join(line if line.endswith("\n") else line + "\n" for line in lines).replace("\r\n", "\n")
    jit = kernel.jit.func if isinstance(kernel.jit, ast.Call) else kernel.jit
    at = places(sliced.saved, names.pointer, language)
    text = render(
        "producer_kernel.py.j2",
        decorators=[*host.decorators, f"@{source.segment(jit)}"],
        name=names.kernel,
        parameters=[*_spelled(module, kernel, host.parameters, runtime=True), SCRATCH]
        + _spelled(module, kernel, host.parameters, runtime=False),
        body=body.rstrip("\n"),
        indent=indent,
        pointer=names.pointer,
        base=base,
        language=language,
        stores=[{"place": at[one.name], "value": one.name} for one in sliced.saved],
    )
    first = min([kernel.node.lineno, *(d.lineno for d in kernel.node.decorator_list)])
    start = source.line_start(first)
    return Edit(start, start, text.replace("\n", source.newline))


def _moved_lines(source: SourceFile, segment: Segment) -> list[str]:
    """The segment's own lines; of an exit the head, and `return` for what it does before it leaves. Raises Refuse."""
    first, statement = _own_first(source.lines, segment), segment.statement
    if exit_test(statement) is None:
        return source.lines[first - 1 : segment.last]
    assert isinstance(statement, ast.If)
    head = statement.body[0]
    if head.lineno == (statement.test.end_lineno or 0):
        raise refuse("unknown_construct", statement, construct="a branch on one line")
    return [*source.lines[first - 1 : head.lineno - 1], f"{source.indent(head)}return{source.newline}"]


def _spelled(module: Module, kernel: KernelDef, parameters: tuple[str, ...], *, runtime: bool) -> list[str]:
    chosen = [p for p in kernel.parameters if p.name in parameters and p.is_constexpr is not runtime]
    return [module.source.segment(p.node) for p in chosen]


# -- the launcher ------------------------------------------------------------------------------------------------------


def _host(module: Module, changes: Changes, host: ProducerLaunch, names: _Names, saved: tuple[Saved, ...]) -> None:
    launch = host.launch
    sizes = " + ".join(" * ".join(host.size(s) for s in one.sizes) or "1" for one in saved)
    count = " * ".join([*host.programs, bracketed(sizes) if " + " in sizes else sizes])
    spot = Spot(launch.statement, before=True)
    dtype = f"{host.torch}.float32"
    for name in sorted({n for one in saved for n in one.widens}):
        dtype = f"{host.torch}.promote_types({dtype}, {written(module, tensor_at(launch, [name]))}.dtype)"
    changes.add_line(spot, f"{SCRATCH} = {host.torch}.empty({count}, dtype={dtype}, device={host.device})")
    arguments = [f"{n}={host.arguments[n]}" for n in host.parameters if n in host.arguments]
    arguments.append(f"{SCRATCH}={SCRATCH}")
    if "num_warps" in host.options:
        arguments.append(f"num_warps={host.options['num_warps']}")
    changes.add_line(spot, f"{names.kernel}[({host.grid})]({', '.join(arguments)})")
    changes.add_keyword(launch.call, SCRATCH, SCRATCH)


PRIMITIVE = Primitive("hoist_producer", hoist_producer, NumericsClass.CONTRACTED, ("axis",))
