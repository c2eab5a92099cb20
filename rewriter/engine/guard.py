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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..kernel.definition import KernelDef, Module, choose_kernel, load_module
from ..kernel.edits import Edit, apply_edits
from ..kernel.launch import Launch, readable_launches
from ..reasons import Refuse, refuse
from .guard_condition import Choice, guard_condition
from .guard_defaults import changed_defaults, pass_on

MOST_VARIANTS = 4
"""Two copies of the kernel at most are chosen (protocol), but several launches of one may be worth a branch each."""


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
    _require_pure_prologue(function, last)
    _require_unset(function, last, left_alone)
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
        parts.append(_renamed(variant, new_kernel.node, {kernel.name: kernels[body]}, decorators=True))
    called = _free(module, f"{function.name}_{suffix}")
    parts.append(_renamed(variant, new_function, {function.name: called, kernel.name: kernels[body]}, decorators=False))
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


def _renamed(module: Module, node: ast.FunctionDef, names: Mapping[str, str], *, decorators: bool) -> str:
    """The definition's text with its own name and the names it reads replaced."""
    source = module.source
    start, end = _extent(module, node, decorators=decorators)
    begin = source.text.index(node.name, source.offset(node.lineno, node.col_offset) + len("def"))
    edits = {Edit(begin, begin + len(node.name), names.get(node.name, node.name))}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in names:
            edits.add(Edit(*source.span(inner), names[inner.id]))
    return apply_edits(source.text[start:end], [Edit(e.start - start, e.end - start, e.replacement) for e in edits])


def _free(module: Module, name: str) -> str:
    taken = (
        {n.id for n in ast.walk(module.source.tree) if isinstance(n, ast.Name)}
        | set(module.names.functions)
        | set(module.names.imported)
    )
    if name in taken:
        raise refuse("name_taken", 1, name=name, scope=module.source.path)
    return name


def _require_pure_prologue(function: ast.FunctionDef, last: int) -> None:
    """What runs before the guard runs again in the copy: it may only look at shapes, and set a parameter only once."""
    arguments = function.args
    parameters = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for statement in function.body[: last + 1]:
        if not _pure(statement):
            raise _impossible(f"line {statement.lineno} before the guard does more than read shapes", statement)
        again = _stored(statement) & parameters - _filled_in(statement)
        if again:
            raise _impossible(f"line {statement.lineno} sets `{min(again)}`, and would set it again", statement)


def _stored(statement: ast.stmt) -> set[str]:
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _filled_in(statement: ast.stmt) -> set[str]:
    """`p` of `if p is None: p = ...`, which does nothing the second time."""
    match statement:
        case ast.If(
            test=ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]),
            body=[ast.Assign(targets=[ast.Name(id=target)])],
            orelse=[],
        ) if name == target:
            return {name}
    return set()


def _pure(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=test, body=body, orelse=orelse):
            # A check of the arguments would raise again.
            return not any(_acts(n) for n in ast.walk(test)) and all(
                isinstance(one, ast.Raise) or _pure(one) for one in (*body, *orelse)
            )
        case ast.Assign(value=value):
            return all(isinstance(t, (ast.Name, ast.Tuple)) for t in statement.targets) and not any(
                _acts(n) for n in ast.walk(value)
            )
    return False


def _require_unset(function: ast.FunctionDef, last: int, names: Collection[str]) -> None:
    """The guard asks whether the caller left these parameters alone, so nothing before it may set them."""
    for statement in function.body[: last + 1]:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names:
                raise _impossible(f"`{node.id}` is set before the guard", node)


_READS = frozenset(
    {
        "any",
        "all",
        "tuple",
        "isinstance",
        "size",
        "stride",
        "dim",
        "numel",
        "cdiv",
        "next_power_of_2",
        "min",
        "max",
        "len",
        "int",
        "bool",
        "element_size",
        "is_contiguous",
    }
)


def _acts(node: ast.AST) -> bool:
    """True for a call that may do more than read."""
    if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )
    return name not in _READS


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
        lines.append(f"{indent}if {condition}:{source.newline}{indent}{step}return {call}{source.newline}")
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


def _impossible(why: str, where: ast.AST) -> Refuse:
    return refuse("guard_not_possible", where, why=why)
