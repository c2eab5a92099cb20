"""split_k: share one long sum among several programs, and finish it in the kernel that follows.

rewrite:  acc = tl.zeros((BM, BN), dtype=tl.float32)
          for k in range(0, tl.cdiv(K, BK)):
              acc += tl.dot(tl.load(p_a), tl.load(p_b))
              p_a += BK
          tl.store(y + o, acc * s)
          kernel[(M, N)](a, b, y, K)
      ->  acc = tl.zeros((BM, BN), dtype=tl.float32)            (partial kernel, with 4 times the programs)
          p_a += first * BK
          for k in range(first, tl.minimum(first + share, tl.cdiv(K, BK))):
              acc += tl.dot(tl.load(p_a), tl.load(p_b))
              p_a += BK
          tl.store(partial + ..., acc)

          acc = tl.zeros((BM, BN), dtype=tl.float32)            (kernel)
          for split in range(SPLITS):
              acc += tl.load(partial + ...)
          tl.store(y + o, acc * s)
          partial = torch.empty(M * N * 4 * BM * BN, dtype=torch.float32, device=a.device)
          partial_kernel[(M * 4, N)](a, b, y, K, partial, SPLITS=4)
          kernel[(M, N)](a, b, y, K, partial, SPLITS=4)

The partial kernel is a copy that ends with the loop; its programs share the first axis of the grid, the splits being
its fastest part. Partial sums are added in the order of the splits, so the result does not vary between runs, and what
follows the loop may be anything: it sees the whole sum.

Conditions
    - a loop over a range at the top level that only adds: what a round hands to the next is an fp32 accumulator that
      starts as zeros and is never looked at inside, or a pointer or counter that moves by the same step every round;
    - nothing is written, and no program waits, up to the end of that loop;
    - what is read after the loop, of all that it sets, are the accumulators: scalars or blocks of one or two dimensions
      sized by constexpr parameters;
    - no autotuner chooses sizes for one kernel apart from the other;
    - every launch can be read: grid, arguments and sizes are plain expressions.

Numerics
    `reassociated`: each share is summed by itself, then the shares.

Refuses: already_applied, pattern_not_found, loop_not_additive, state_not_zero, producer_not_saved, grid_barrier,
opaque_call, bad_setting, tile_belongs_to_autotuner, tile_from_heuristic, unreadable_launch, no_launch_site, name_taken,
unknown_construct.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from skel.store.schema import NumericsClass

from ..analysis.additive_loop import AdditiveLoop, Moved, additive_loop
from ..analysis.facts import Facts, analyse
from ..analysis.flow import Flow, flow_of
from ..analysis.helpers import axis_of, program_calls
from ..analysis.producer_slice import MAX_RANK, Saved
from ..analysis.scratch import bracketed, numel, places, program
from ..analysis.types import TypeAnalysis
from ..conditions.own_programs import require_asked_itself
from ..conditions.producer_launch import ProducerLaunch, producer_launches
from ..conditions.tensors import sure_tensors
from ..kernel.autotune import heuristics_of
from ..kernel.changes import Changes, Spot
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit, apply_edits
from ..kernel.insert import insert_parameters
from ..kernel.launch import Launch, readable_launches
from ..kernel.plain import written
from ..reasons import Refuse, refuse
from .base import Primitive
from .names import fresh_name, language_name, names_at_launches, names_in_use

SPLITS = "SPLITS"
"""The parameter with the number of shares: it tells that the rewrite was applied."""


@dataclass(frozen=True)
class _Names:
    """New names, numbered where the plain one is taken."""

    kernel: str
    """The partial kernel."""
    partial: str
    """The scratch, in the kernels and in the launcher."""
    pointer: str
    """The program's part of the scratch."""
    first: str
    """The first round of a share."""
    share: str
    """Rounds in a share."""
    split: str
    """The share's number."""

    @classmethod
    def of(cls, module: Module, kernel: KernelDef, launches: Sequence[Launch]) -> _Names:
        inside, outside = names_in_use(module, kernel), names_at_launches(launches)
        return cls(
            fresh_name(f"{kernel.name.removesuffix('_kernel')}_partial_kernel", inside | outside),
            fresh_name("partial", inside | outside),
            *(fresh_name(name, inside) for name in ("p_partial", "first", "share", "split")),
        )


def split_k(module: Module, kernel: KernelDef, *, splits: int = 4) -> list[Edit]:
    """Edits that share the first additive loop of the kernel among `splits` programs. Raises Refuse."""
    language = _require_plain_kernel(module, kernel, splits)
    flow = flow_of(kernel.node)
    calls = _program_ids(module, kernel)
    facts = analyse(module, kernel)
    types = TypeAnalysis(module, kernel, flow)
    found = _loop(facts, flow, types)
    saved = _saved(facts, flow, types, found)
    launches = readable_launches(module, kernel)
    computed = dict(heuristics_of(kernel))
    tensors = sure_tensors(kernel, facts.accesses)
    parameters = tuple(n for n in kernel.parameter_names if n not in computed)
    hosts = producer_launches(module, launches, None, parameters, tensors)
    names = _Names.of(module, kernel, launches)
    edits = _finish(module, names, found, saved, hosts[0].rank, language)
    edits += insert_parameters(module.source, kernel.node, _parameters(kernel, names, language))
    edits.append(_partial_kernel(module, kernel, names, found, saved, calls, hosts[0].rank, language))
    changes = Changes()
    for host in hosts:
        _host(changes, host, names, saved, splits)
    return edits + changes.edits(module)


# -- what must hold ----------------------------------------------------------------------------------------------------


def _require_plain_kernel(module: Module, kernel: KernelDef, splits: int) -> str:
    """How the kernel writes `triton.language`. Raises Refuse."""
    if type(splits) is not int or not 2 <= splits <= 64:
        raise refuse("bad_setting", kernel.node, setting="splits", value=splits, why="it is a number from 2 to 64")
    if kernel.node not in module.source.tree.body or kernel.node.args.vararg or kernel.node.args.kwonlyargs:
        raise refuse("unknown_construct", kernel.node, construct="a kernel in a function or with keyword-only names")
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    if SPLITS in kernel.parameter_names:
        raise refuse("already_applied", kernel.node, kernel=kernel.name, skeleton="split_k")
    if SPLITS in names_in_use(module, kernel):
        raise refuse("name_taken", kernel.node, name=SPLITS, scope=kernel.name)
    if kernel.autotune is not None:
        raise refuse("tile_belongs_to_autotuner", kernel.autotune, tile="the sizes of the kernel")
    return language


def _program_ids(module: Module, kernel: KernelDef) -> list[ast.Call]:
    """Calls of `program_id(0)`. Raises Refuse."""
    found = []
    for call, name in program_calls(module, kernel):
        axis = axis_of(call)
        if axis is None:
            raise refuse("unknown_construct", call, construct="a program id of an axis that is no literal")
        if name == "num_programs":
            raise refuse("grid_barrier", call, axis="the grid")
        if axis == 0:
            found.append(call)
    require_asked_itself(module, kernel)
    return found


def _loop(facts: Facts, flow: Flow, types: TypeAnalysis) -> AdditiveLoop:
    """The first loop that only adds. Raises Refuse: that of the first loop where none does."""
    kernel = facts.kernel
    loops = [s for s in kernel.node.body if isinstance(s, ast.For)]
    if not loops:
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="split_k")
    if flow.opaque:
        what = flow.opaque[0]
        raise refuse("unknown_construct", what, construct=f"`{type(what).__name__.lower()}`")
    first: Refuse | None = None
    for loop in loops:
        try:
            found = additive_loop(facts, flow, types, kernel.node.body, loop)
        except Refuse as refused:
            first = first or refused
            continue
        _require_step(facts, found)
        return found
    assert first is not None
    raise first


def _require_step(facts: Facts, found: AdditiveLoop) -> None:
    """The step is a number above zero, or the size of a block."""
    if len(found.range.args) < 3:
        return
    step = found.range.args[2]
    if isinstance(step, ast.Constant) and type(step.value) is int and step.value > 0:
        return
    sizes = {d.size for e in facts.runs for v in e.values.values() for d in v.dims or ()}
    if not (isinstance(step, ast.Name) and step.id in facts.kernel.constexprs and step.id in sizes):
        raise refuse("loop_not_additive", found.loop, why=f"its step `{ast.unparse(step)}` may not be above zero")


def _saved(facts: Facts, flow: Flow, types: TypeAnalysis, found: AdditiveLoop) -> tuple[Saved, ...]:
    """What goes through memory. Raises Refuse(producer_not_saved)."""
    kernel = facts.kernel
    saved = []
    for name in found.sums:
        made = next(d for d in flow.definitions if d.kind == "carry" and d.node is found.loop and d.name == name)
        places_of = [n for n in ast.walk(found.loop) if isinstance(n, ast.Name) and n.id == name]
        shapes = {e.values[n].dims for e in facts.runs for n in places_of if n in e.values}
        shape = next(iter(shapes)) if len(shapes) == 1 else None
        sizes = None if shape is None or len(shape) > MAX_RANK else tuple(d.size for d in shape)
        if sizes is None or any(s is None or not (s.isdigit() or s in kernel.constexprs) for s in sizes):
            raise refuse("producer_not_saved", found.loop, axis="the loop")
        if types.definition(made) != frozenset({"fp32"}):
            raise refuse("loop_not_additive", found.loop, why=f"{name} is not proved fp32")
        saved.append(Saved(name, tuple(s for s in sizes if s is not None), found.loop))
    return tuple(saved)


# -- the two kernels ---------------------------------------------------------------------------------------------------


def _parameters(kernel: KernelDef, names: _Names, language: str) -> list[str]:
    if kernel.node.args.defaults:
        return [f"{names.partial} = None", f"{SPLITS}: {language}.constexpr = 1"]
    return [names.partial, f"{SPLITS}: {language}.constexpr"]


def _finish(
    module: Module, names: _Names, found: AdditiveLoop, saved: tuple[Saved, ...], rank: int, language: str
) -> list[Edit]:
    """In place of the loop, one that adds the shares."""
    source, loop = module.source, found.loop
    indent, size = source.indent(loop), bracketed(numel(saved))
    at = places(saved, f"{names.pointer} + {names.split} * {size}", language)
    lines = [f"{names.pointer} = {names.partial} + {program(language, None, rank)} * ({SPLITS} * {size})"]
    lines.append(f"for {names.split} in range({SPLITS}):")
    lines += [f"    {one.name} += {language}.load({at[one.name]})" for one in saved]
    return [Edit(*source.span(loop), f"{source.newline}{indent}".join(lines))]


def _partial_kernel(
    module: Module,
    kernel: KernelDef,
    names: _Names,
    found: AdditiveLoop,
    saved: tuple[Saved, ...],
    calls: list[ast.Call],
    rank: int,
    language: str,
) -> Edit:
    """A copy of the kernel up to the end of the loop, which runs over one share."""
    source, loop = module.source, found.loop
    newline, indent = source.newline, source.indent(loop)
    edits = insert_parameters(source, kernel.node, _parameters(kernel, names, language))
    start = source.text.index(kernel.name, source.text.index("def", source.span(kernel.node)[0]) + 3)
    edits.append(Edit(start, start + len(kernel.name), names.kernel))
    for call in calls:
        if call not in set(ast.walk(loop)):
            text = f"{language}.program_id(0) // {SPLITS}"
            alone = isinstance(source.parents[call], (ast.Assign, ast.Tuple, ast.keyword))
            edits.append(Edit(*source.span(call), text if alone else f"({text})"))
        else:
            edits.append(Edit(*source.span(call), f"({language}.program_id(0) // {SPLITS})"))
    head, bounds = _share(module, names, found, language)
    edits.append(Edit(source.span(loop)[0], source.span(loop)[0], "".join(f"{x}{newline}{indent}" for x in head)))
    arguments = found.range.args
    edits.append(Edit(source.span(arguments[0])[0], source.span(arguments[-1])[1], bounds))
    lines = [f"{names.pointer} = {names.partial} + {program(language, None, rank)} * {bracketed(numel(saved))}"]
    at = places(saved, names.pointer, language)
    lines += [f"{language}.store({at[one.name]}, {one.name})" for one in saved]
    assert loop.end_lineno is not None and kernel.node.end_lineno is not None
    cut, end = source.span(loop)[1], source.span(kernel.node)[1]
    edits.append(Edit(cut, end, newline + newline.join(indent + line for line in lines)))
    first = min([kernel.node.lineno, *(d.lineno for d in kernel.node.decorator_list)])
    begin = source.line_start(first)
    inside = [Edit(e.start - begin, e.end - begin, e.replacement) for e in edits]
    return Edit(begin, begin, apply_edits(source.text[begin:end], inside) + newline * 3)


def _share(module: Module, names: _Names, found: AdditiveLoop, language: str) -> tuple[list[str], str]:
    """The lines before the loop, and the bounds of its range."""
    arguments = [written(module, a) for a in found.range.args]
    start = arguments[0] if len(arguments) > 1 else "0"
    limit = arguments[1] if len(arguments) > 1 else arguments[0]
    step = arguments[2] if len(arguments) > 2 else None
    rounds = limit if start == "0" else f"{_factor(limit)} - {_factor(start)}"
    rounds = rounds if step is None else f"{language}.cdiv({rounds}, {step})"
    lines = [
        f"{names.share} = {language}.cdiv({rounds}, {SPLITS})",
        f"{names.first} = ({language}.program_id(0) % {SPLITS}) * {names.share}",
    ]
    lines += [_skip(module, names, one, language) for one in found.moved]
    offset = names.first if step is None else f"{names.first} * {_factor(step)}"
    begin = offset if start == "0" else f"{_factor(start)} + {offset}"
    stretch = names.share if step is None else f"{names.share} * {_factor(step)}"
    bounds = [begin, f"{language}.minimum({begin} + {stretch}, {limit})"]
    return lines, ", ".join(bounds if step is None else [*bounds, step])


def _skip(module: Module, names: _Names, one: Moved, language: str) -> str:
    """What the rounds before the share would have done to a pointer or a counter."""
    # Rounds move a pointer in 64 bits, however many they are; the product must not wrap either.
    rounds = f"{names.first}.to({language}.int64)" if one.is_pointer else names.first
    return f"{one.name} {'-' if one.negative else '+'}= {rounds} * {_factor(written(module, one.step))}"


def _factor(text: str) -> str:
    node = ast.parse(text, mode="eval").body
    return text if isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)) else f"({text})"


# -- the launcher ------------------------------------------------------------------------------------------------------


def _host(changes: Changes, host: ProducerLaunch, names: _Names, saved: tuple[Saved, ...], splits: int) -> None:
    launch = host.launch
    if launch.splats:
        why = "options come through **, and would have to be passed twice"
        raise refuse("unreadable_launch", launch.call, kernel=launch.kernel.name, why=why)
    sizes = " + ".join(" * ".join(host.size(s) for s in one.sizes) or "1" for one in saved)
    count = " * ".join([*host.programs, str(splits), bracketed(sizes) if " + " in sizes else sizes])
    spot = Spot(launch.statement, before=True)
    scratch = f"{host.torch}.empty({count}, dtype={host.torch}.float32, device={host.device})"
    changes.add_line(spot, f"{names.partial} = {scratch}")
    grid = ", ".join([f"{host.programs[0]} * {splits}", *host.programs[1:]])
    arguments = [f"{n}={host.arguments[n]}" for n in host.parameters if n in host.arguments]
    arguments += [f"{names.partial}={names.partial}", f"{SPLITS}={splits}"]
    arguments += [f"{option}={text}" for option, text in host.options.items()]
    changes.add_line(spot, f"{names.kernel}[({grid}{',' if host.rank == 1 else ''})]({', '.join(arguments)})")
    changes.add_keyword(launch.call, names.partial, names.partial)
    changes.add_keyword(launch.call, SPLITS, str(splits))


PRIMITIVE = Primitive("split_k", split_k, NumericsClass.REASSOCIATED, ("splits",))
