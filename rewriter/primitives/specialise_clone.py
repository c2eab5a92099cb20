"""specialise_clone: a copy of the kernel for one value of an argument, chosen where it is launched.

rewrite:  @triton.jit(do_not_specialize=["T"])         @triton.jit(do_not_specialize=["T"])
          def step_kernel(x, y, T, ...):           ->  def step_t_1_kernel(x, y, T: tl.constexpr, ...):
              for t in range(T):                           for t in range(T):
                  ...                                          ...

          step_kernel[grid](x, y, T)               ->  if T == 1:
                                                           step_t_1_kernel[grid](x, y, T)
                                                       else:
                                                           step_kernel[grid](x, y, T)

The copy knows the number when it is compiled: a loop of one round is no loop, and a branch on a flag is none. The
general kernel and its launch stay as they are for every other value.

`parameter` and `value`: which argument, and for which value: a count that bounds a loop for 1, a flag for 0 or 1.

Conditions
    - the parameter is a run-time number that bounds a range or is tested, and that Triton does not specialise by
      itself, as it does for 1 unless `do_not_specialize` names the parameter;
    - nothing in the kernel needs it at run time: no method is called on it or on what is computed of it and of
      constants alone, no loop carries that and no run-time branch sets it, no helper takes it;
    - where it is declared int64, whatever it is added to or multiplied with is 64 bits wide anyway;
    - every launch is a statement of its own, launches this kernel by its name, and gives the argument plainly.

Numerics
    `bitwise`: the same operations.

Refuses: pattern_not_found, already_applied, specialised_already, runtime_needed, bad_setting, name_taken,
unreadable_launch, no_launch_site, unknown_construct.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.constant_parameter import require_constant
from ..analysis.facts import analyse
from ..analysis.flow import Definition, Flow, flow_of
from ..analysis.operators import operation
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit, apply_edits
from ..kernel.launch import Launch, readable_launches
from ..kernel.plain import is_plain, written
from ..reasons import Refuse, refuse
from .base import Primitive
from .names import language_name, names_in_use

UNIT = "    "
"""One step of indentation of what is added."""
_LISTS = ("do_not_specialize", "do_not_specialize_on_alignment")


def specialise_clone(module: Module, kernel: KernelDef, *, parameter: str | None = None, value: int = 1) -> list[Edit]:
    """Edits that add the copy and choose it at every launch. Raises Refuse."""
    language = _require_plain_kernel(module, kernel, value)
    flow = flow_of(kernel.node)
    if flow.opaque:
        what = flow.opaque[0]
        raise refuse("unknown_construct", what, construct=f"`{type(what).__name__.lower()}`")
    chosen = _chosen(module, kernel, flow, parameter, value)
    name = f"{kernel.name.removesuffix('_kernel')}_{chosen.lower()}_{value}_kernel"
    if name in names_in_use(module, kernel):
        raise refuse("already_applied", kernel.node, kernel=kernel.name, skeleton="specialise_clone")
    launches = readable_launches(module, kernel)
    edits = [edit for launch in launches for edit in _choose(module, launch, name, chosen, value)]
    if not edits:
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="specialise_clone")
    return [_copy(module, kernel, name, chosen, language), *edits]


def _require_plain_kernel(module: Module, kernel: KernelDef, value: int) -> str:
    if type(value) is not int or value not in (0, 1):
        raise refuse("bad_setting", kernel.node, setting="value", value=value, why="it may be 0 or 1")
    if kernel.node not in module.source.tree.body:
        raise refuse("unknown_construct", kernel.node, construct="a kernel in a function or a branch")
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    return language


# -- the parameter -----------------------------------------------------------------------------------------------------


def _chosen(module: Module, kernel: KernelDef, flow: Flow, wanted: str | None, value: int) -> str:
    """The first parameter that may become a constant. Raises Refuse: that of the first one where none may."""
    facts = analyse(module, kernel)
    counts, flags = _counts(module, kernel, flow), _flags(kernel, flow)
    names = [*(counts if value == 1 else []), *(n for n in flags if n not in counts)]
    if wanted is not None:
        if wanted not in names:
            why = "no run-time argument of that name bounds a loop or is a flag"
            raise refuse("bad_setting", kernel.node, setting="parameter", value=wanted, why=why)
        names = [wanted]
    first: Refuse | None = None
    for name in names:
        try:
            if value == 1 and name not in _unspecialised(kernel):
                raise refuse("specialised_already", kernel.node, name=name)
            require_constant(facts, flow, name, value)
            return name
        except Refuse as refused:
            first = first or refused
    raise first or refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="specialise_clone")


def _runtime(kernel: KernelDef, flow: Flow) -> list[Definition]:
    return [d for d in flow.definitions if d.kind == "parameter" and d.name not in kernel.constexprs]


def _counts(module: Module, kernel: KernelDef, flow: Flow) -> list[str]:
    """Parameters that end a range, as they came or as a compile-time branch left them."""
    found = []
    for loop in (n for n in ast.walk(kernel.node) if isinstance(n, ast.For)):
        call = loop.iter
        if not isinstance(call, ast.Call) or not call.args:
            continue
        builtin = isinstance(call.func, ast.Name) and call.func.id == "range" and call.func not in flow.reaching
        if not builtin and operation(module, flow, call) != "range":
            continue
        end = call.args[0] if len(call.args) == 1 else call.args[1]
        sources = _sources(flow.definition(end))
        found += [d.name for d in _runtime(kernel, flow) if d in sources]
    return list(dict.fromkeys(found))


def _sources(made: Definition | None) -> set[Definition]:
    """The definition, and those that meet in it."""
    found: set[Definition] = set()
    pending = [made] if made is not None else []
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += one.sources if one.kind == "join" else []
    return found


def _flags(kernel: KernelDef, flow: Flow) -> list[str]:
    """Parameters that are tested as they stand and do nothing else."""
    return [d.name for d in _runtime(kernel, flow) if d.uses and not d.feeds and all(_tests(flow, u) for u in d.uses)]


def _tests(flow: Flow, use: ast.Name) -> bool:
    node: ast.AST = use
    while isinstance(flow.parents[node], (ast.BoolOp, ast.UnaryOp)):
        node = flow.parents[node]
    parent = flow.parents[node]
    return isinstance(parent, (ast.If, ast.IfExp)) and parent.test is node


def _unspecialised(kernel: KernelDef) -> frozenset[str]:
    """Parameters that the decorator names under do_not_specialize."""
    keywords = kernel.jit.keywords if isinstance(kernel.jit, ast.Call) else []
    listed = next((k.value for k in keywords if k.arg == "do_not_specialize"), None)
    return _named(kernel, listed.elts) if isinstance(listed, (ast.List, ast.Tuple)) else frozenset()


# -- the copy and the choice -------------------------------------------------------------------------------------------


def _copy(module: Module, kernel: KernelDef, name: str, parameter: str, language: str) -> Edit:
    """The kernel once more, above itself."""
    source = module.source
    begin = source.line_start(min([kernel.node.lineno, *(d.lineno for d in kernel.node.decorator_list)]))
    end = source.span(kernel.node)[1]
    at = source.text.index(kernel.name, source.text.index("def", source.span(kernel.node)[0]) + 3)
    found = kernel.parameter(parameter)
    assert found is not None
    edits = [
        Edit(at, at + len(kernel.name), name),
        Edit(*source.span(found.node), f"{parameter}: {language}.constexpr"),
    ]
    for keyword in kernel.jit.keywords if isinstance(kernel.jit, ast.Call) else []:
        if keyword.arg in _LISTS:
            edits += _without(module, kernel, keyword.value, parameter)
    inside = [Edit(e.start - begin, e.end - begin, e.replacement) for e in edits]
    return Edit(begin, begin, apply_edits(source.text[begin:end], inside) + source.newline * 3)


def _without(module: Module, kernel: KernelDef, listed: ast.expr, parameter: str) -> list[Edit]:
    """The list without the parameter: Triton takes no constexpr there. Raises Refuse(unknown_construct)."""
    if not isinstance(listed, (ast.List, ast.Tuple)) or not all(isinstance(e, ast.Constant) for e in listed.elts):
        raise refuse("unknown_construct", listed, construct="a list of parameters that is not written out")
    left = [e for e in listed.elts if parameter not in _named(kernel, [e])]
    if len(left) == len(listed.elts):
        return []
    return [Edit(*module.source.span(listed), f"[{', '.join(module.source.segment(e) for e in left)}]")]


def _named(kernel: KernelDef, elements: list[ast.expr]) -> frozenset[str]:
    """Parameters that are listed by name or by number."""
    values = [e.value for e in elements if isinstance(e, ast.Constant)]
    return frozenset(kernel.parameter_names[v] if type(v) is int else str(v) for v in values)


def _choose(module: Module, launch: Launch, name: str, parameter: str, value: int) -> list[Edit]:
    """The launch, where the argument may have the value, with a choice around it. Raises Refuse(unreadable_launch)."""
    source, statement, call = module.source, launch.statement, launch.call
    if not isinstance(statement, ast.Expr) or statement.value is not call or not isinstance(call.func, ast.Subscript):
        raise _unreadable(launch, "the launch is no statement of its own")
    kernel = call.func.value
    if not isinstance(kernel, ast.Name) or kernel.id != launch.kernel.name:
        raise _unreadable(launch, "it is launched by another name")
    argument = launch.arguments.get(parameter)
    if argument is None or not is_plain(module, argument):
        raise _unreadable(launch, f"the argument {parameter} is not written there, or would be computed twice")
    special = Edit(*source.span(kernel), name)
    if isinstance(argument, ast.Constant):
        return [special] if argument.value == value else []
    start, end = source.span(statement)
    strings = [n for n in ast.walk(statement) if isinstance(n, (ast.JoinedStr, ast.Constant))]
    if source.text[source.line_start(statement.lineno) : start].strip() or any(_spans(n) for n in strings):
        raise _unreadable(launch, "it shares its line, or holds a string of several lines")
    text, indent, newline = source.text[start:end], source.indent(statement), source.newline
    shift = special.start - start
    copy = text[:shift] + name + text[shift + len(kernel.id) :]
    test = written(module, argument)
    test = test if isinstance(argument, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({test})"
    lines = [f"if {test} == {value}:", UNIT + _deeper(copy, newline), "else:", UNIT + _deeper(text, newline)]
    return [Edit(start, end, f"{newline}{indent}".join(lines))]


def _deeper(text: str, newline: str) -> str:
    first, *rest = text.split(newline)
    return newline.join([first, *(UNIT + line if line.strip() else line for line in rest)])


def _spans(node: ast.AST) -> bool:
    return int(getattr(node, "end_lineno", 0)) > int(getattr(node, "lineno", 0))


def _unreadable(launch: Launch, why: str) -> Refuse:
    return refuse("unreadable_launch", launch.call, kernel=launch.kernel.name, why=why)


PRIMITIVE = Primitive("specialise_clone", specialise_clone, NumericsClass.BITWISE, ("parameter", "value"))
