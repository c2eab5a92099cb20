"""A guard that chooses by shape between the original and a few rewritten variants.

rewrite:  def launcher(q, v):            ->  def launcher(q, v):
              N, V = v.shape                     N, V = v.shape
              kernel[grid](q, v)                 if V == 128 and 64 <= N <= 256:
                                                     return launcher_fused(q, v)
                                                 kernel[grid](q, v)

                                             def launcher_fused(q, v): ...

The original kernel and the original's path stay to the byte; each variant is a copy of the launching function (and of
the kernel, where its text changed). The guard covers only what was measured: sizes outside keep the original. A variant
that has other defaults for the launcher's parameters runs only where the caller left these alone:
`if N == 64 and block_v is None: return launcher_fused(q, v)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..kernel.definition import KernelDef, Module, choose_kernel, load_module
from ..kernel.edits import Edit, apply_edits
from ..kernel.launch import Launch, readable_launches
from ..reasons import Refuse, refuse
from .guard_choices import Choice
from .guard_condition import guard_condition
from .guard_defaults import changed_defaults, pass_on
from .guard_prologue import require_pure_prologue, require_simple_function, require_unset, whole_lines

MOST_VARIANTS = 4
"""Two copies of the kernel at most are chosen (protocol), but several launches of one may be worth a branch each."""
LINE_LENGTH = 120
"""A longer condition is written with one test a line."""


@dataclass(frozen=True)
class Guarded:
    """The file with its guard, and the conditions as text, for the findings."""

    text: str
    conditions: dict[str, str]
    """Variant name to the condition under which it runs."""


def emit_guard(text: str, path: str, kernel: str, variants: Mapping[str, str], choices: Sequence[Choice]) -> Guarded:
    """The original file with the chosen variants behind a guard.

    `variants`: rewritten files by name; `choices`: what to run at each measured workload.
    Raises Refuse(`guard_not_possible`) with the reason; ValueError for more than `MOST_VARIANTS`.
    """
    used = list(dict.fromkeys(c.variant for c in choices if c.variant is not None))
    if len(used) > MOST_VARIANTS:
        raise ValueError(f"at most {MOST_VARIANTS} variants, not {len(used)}")
    module = load_module(text, path)
    original = choose_kernel(module, kernel)
    launch = _launch(module, original)
    function = launch.function
    assert isinstance(function, ast.FunctionDef)
    copies: list[str] = []
    kernels: dict[str, str] = {}
    guards: list[tuple[str, str]] = []
    left_alone: dict[str, str] = {}
    conditions: dict[str, str] = {}
    last = -1
    for number, name in enumerate(used, 1):
        suffix = "fused" if number == 1 else f"fused_{number}"
        variant = load_module(variants[name], path)
        copy, called = _copies(module, original, function, variant, suffix, kernels)
        copies.append(copy)
        condition, place = guard_condition(module, launch, choices, name)
        last = max(last, place)
        left_alone |= changed_defaults(function, _function(variant, function.name))
        conditions[name] = condition
        guards.append((name, called))
    if not guards:
        return Guarded(text, {})
    require_simple_function(module.source, function)
    last = whole_lines(function, last)
    require_pure_prologue(function, last)
    require_unset(function, last, left_alone)
    # All that was measured had the defaults of all of these, whichever of them a variant changes.
    conditions = {name: _and(text, left_alone.values()) for name, text in conditions.items()}
    calls = [(conditions[name], f"{called}({pass_on(function, frozenset(left_alone))})") for name, called in guards]
    return Guarded(_assembled(module, function, last, calls, copies), conditions)


def _launch(module: Module, kernel: KernelDef) -> Launch:
    launches = readable_launches(module, kernel)
    if len(launches) != 1:
        raise _impossible("the kernel is launched from several places", launches[1].call)
    function = launches[0].function
    if not isinstance(function, ast.FunctionDef) or function not in module.source.tree.body:
        raise _impossible("the launch does not stand in a function of the module", launches[0].call)
    return launches[0]


def _copies(
    module: Module, kernel: KernelDef, function: ast.FunctionDef, variant: Module, suffix: str, kernels: dict[str, str]
) -> tuple[str, str]:
    """Text of the variant's kernel (where it is new) and launching function under new names, and the new function's.

    `kernels` remembers the kernels copied so far by their text: variants that differ in the launcher only share one.
    """
    new_kernel = choose_kernel(variant, kernel.name)
    new_function = _function(variant, function.name)
    if new_function is None or _outside(module, kernel, function) != _outside(variant, new_kernel, new_function):
        raise _impossible(
            "the variant changes more of the file than the kernel and its launching function", kernel.node
        )
    parts = []
    kernels.setdefault(_whole(module, kernel.node), kernel.name)
    body = _whole(variant, new_kernel.node)
    if body not in kernels:
        kernels[body] = _free(module, f"{kernel.name}_{suffix}")
        own = {kernel.name: kernels[body]}
        parts.append(_renamed(variant, new_kernel.node, kernels[body], own, decorators=True))
    called = _free(module, f"{function.name}_{suffix}")
    # Where the function calls itself, the sizes are others: the guarded one chooses again.
    own = {kernel.name: kernels[body]}
    parts.append(_renamed(variant, new_function, called, own, decorators=False))
    gap = module.source.newline * 2
    return gap.join(part.rstrip() + module.source.newline for part in parts), called


def _function(module: Module, name: str) -> ast.FunctionDef | None:
    return next((f for f in module.source.tree.body if isinstance(f, ast.FunctionDef) and f.name == name), None)


def _and(condition: str, others: Iterable[str]) -> str:
    """All of them, each once; `a or b` needs parentheses before an `and` follows."""
    parsed = ast.parse(condition, mode="eval").body
    either = isinstance(parsed, ast.BoolOp) and isinstance(parsed.op, ast.Or)
    said = {ast.unparse(v) for v in parsed.values} if isinstance(parsed, ast.BoolOp) and not either else {condition}
    more = [one for one in others if one not in said]
    return " and ".join([f"({condition})" if either and more else condition, *more])


def _outside(module: Module, kernel: KernelDef, function: ast.FunctionDef) -> str:
    """The file without the kernel and the launching function."""
    edits = [Edit(*_extent(module, node), "") for node in (kernel.node, function)]
    return apply_edits(module.source.text, edits)


def _extent(module: Module, node: ast.FunctionDef, *, decorators: bool = True) -> tuple[int, int]:
    first = min([d.lineno for d in node.decorator_list] + [node.lineno]) if decorators else node.lineno
    assert node.end_lineno is not None
    return module.source.line_start(first), module.source.line_start(node.end_lineno + 1)


def _whole(module: Module, node: ast.FunctionDef) -> str:
    start, end = _extent(module, node)
    return module.source.text[start:end]


def _renamed(module: Module, node: ast.FunctionDef, name: str, names: Mapping[str, str], *, decorators: bool) -> str:
    """The definition's text under the name `name`, with the names that it reads replaced by those of `names`."""
    source = module.source
    start, end = _extent(module, node, decorators=decorators)
    begin = source.text.index(node.name, source.offset(node.lineno, node.col_offset) + len("def"))
    edits = {Edit(begin, begin + len(node.name), name)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in names:
            edits.add(Edit(*source.span(inner), names[inner.id]))
    return apply_edits(source.text[start:end], [Edit(e.start - start, e.end - start, e.replacement) for e in edits])


def _free(module: Module, name: str) -> str:
    taken = (
        {n.id for n in ast.walk(module.source.tree) if isinstance(n, ast.Name)}
        | {n.name for n in ast.walk(module.source.tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        | set(module.names.functions)
        | set(module.names.imported)
    )
    if name in taken:
        raise refuse("name_taken", 1, name=name, scope=module.source.path)
    return name


def _assembled(
    module: Module,
    function: ast.FunctionDef,
    last: int,
    calls: Sequence[tuple[str, str]],
    copies: Sequence[str],
) -> str:
    """The guard after statement `last` of the launching function, the copies after the function."""
    source = module.source
    indent = source.indent(function.body[0])
    step = indent.removeprefix(source.indent(function)) or "    "
    lines = [f"{indent}# Where it was measured to be faster; everything else keeps the original below.{source.newline}"]
    for condition, call in calls:
        text = _if(condition, indent, step, source.newline)
        lines.append(f"{text}{source.newline}{indent}{step}return {call}{source.newline}")
    if last >= 0:
        end = function.body[last].end_lineno
        assert end is not None
        at = source.line_start(end + 1)
    else:
        at = source.line_start(function.body[0].lineno)
    assert function.end_lineno is not None
    after = source.line_start(function.end_lineno + 1)
    gap = source.newline * 2
    tail = "" if after == 0 or source.text[after - 1] in "\r\n" else source.newline
    return apply_edits(source.text, [Edit(at, at, "".join(lines)), Edit(after, after, tail + gap + gap.join(copies))])


def _if(condition: str, indent: str, step: str, newline: str) -> str:
    """`if CONDITION:`, one test a line where it is long."""
    text = f"{indent}if {condition}:"
    parsed = ast.parse(condition, mode="eval").body
    if len(text) <= LINE_LENGTH or not isinstance(parsed, ast.BoolOp) or not isinstance(parsed.op, ast.And):
        return text
    tests = [f"({ast.unparse(v)})" if isinstance(v, ast.BoolOp) else ast.unparse(v) for v in parsed.values]
    lines = [f"{indent}{step}{'and ' if number else ''}{test}" for number, test in enumerate(tests)]
    return newline.join([f"{indent}if (", *lines, f"{indent}):"])


def _impossible(why: str, where: ast.AST) -> Refuse:
    return refuse("guard_not_possible", where, why=why)
