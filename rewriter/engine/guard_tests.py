"""Single tests of a guard beside its sizes: flags, layouts, dtypes, and arguments that are None.

Only what the launcher knows before it launches can be asked: its parameters, and what it reads from them.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from ..kernel.definition import Module
from ..kernel.launch import Launch
from .guard_choices import Choice
from .guard_prologue import only_reads, stored

_LAYOUT = frozenset({"shape", "size", "stride", "ndim", "dim", "numel"})


def value_test(text: str, value: int) -> str:
    """A flag is asked for what it is: callers pass true values that are not True."""
    if not isinstance(value, bool):
        return f"{text} == {value}"
    if value:
        return text
    node = ast.parse(text, mode="eval").body
    match node:
        case ast.Compare(ops=[ast.IsNot()], comparators=[right]):
            return f"{ast.unparse(node.left)} is {ast.unparse(right)}"
        case ast.Compare(ops=[ast.Is()], comparators=[right]):
            return f"{ast.unparse(node.left)} is not {ast.unparse(right)}"
    return f"not {text}" if _is_simple(node) else f"not ({text})"


def in_parentheses(node: ast.expr) -> str:
    """The expression's text, in parentheses where an operator beside it could tear it apart."""
    return ast.unparse(node) if _is_simple(node) else f"({ast.unparse(node)})"


def further_sizes(
    launch: Launch, choices: Sequence[Choice], known: Collection[str], counted: Collection[str]
) -> dict[str, str]:
    """Kernel parameters that are flags or layouts which the launcher reads from its parameters: `g is not None`.

    A layout is taken where it was the same at every workload: strides of a tensor change with its sizes. `known` are
    the parameters that are tested anyway, `counted` the launcher's names that are part of the number of programs.
    """
    found: dict[str, str] = {}
    for parameter, argument in launch.arguments.items():
        if parameter in known or not all(parameter in c.constants for c in choices):
            continue
        if isinstance(argument, ast.Name) and argument.id in counted:
            continue
        values = [c.constants[parameter] for c in choices]
        text = _read_from_parameters(launch, argument)
        if text is None or text in found.values():
            continue
        if all(isinstance(v, bool) for v in values) or (len(set(values)) == 1 and _is_layout(text)):
            found[parameter] = text
    return found


def dtype_tests(module: Module, launch: Launch, choices: Sequence[Choice], choice: Choice) -> Iterator[str]:
    """Tests of the dtypes at one workload; tensors whose dtypes are the same at every workload share one."""
    for values, names in _dtypes(launch, choices).items():
        value = values[choices.index(choice)]
        if value is None:
            yield from (f"{name} is None" for name in names)
        else:
            yield from _dtype_test(module, launch, names, value)


def tests_for_none(launch: Launch, tests: Sequence[str]) -> Iterator[str]:
    """The tests, each after one that the parameters it looks into, or compares by size, are not None."""
    said: set[str] = set()
    for text in tests:
        for test in (*(f"{name} is not None" for name in sorted(_needed(text) & _optional(launch))), text):
            if test not in said:
                said.add(test)
                yield test


def _dtypes(launch: Launch, choices: Sequence[Choice]) -> dict[tuple[str | None, ...], list[str]]:
    """The launcher's parameters by the dtypes that they had at the workloads; None where they were None."""
    found: dict[tuple[str | None, ...], list[str]] = {}
    locals_that_vary: dict[tuple[str | None, ...], list[str]] = {}
    free = _untouched(launch)
    for parameter, argument in launch.arguments.items():
        if not isinstance(argument, ast.Name):
            continue
        if not all(parameter in c.dtypes or parameter in c.absent for c in choices):
            continue
        values = tuple(c.dtypes.get(parameter) for c in choices)
        if argument.id in free:
            names = found.setdefault(values, [])
        elif len(set(values)) > 1:
            names = locals_that_vary.setdefault(values, [])
        else:
            continue
        if argument.id not in names:
            names.append(argument.id)
    return found | {values: names[:1] for values, names in locals_that_vary.items() if values not in found}


def _dtype_test(module: Module, launch: Launch, names: Sequence[str], dtype: str) -> Iterator[str]:
    torch = next((n for n, d in module.names.imported.items() if d == "torch" and n not in _bound(launch)), None)
    if torch is not None:
        yield " == ".join([*(f"{name}.dtype" for name in names), f"{torch}.{dtype}"])
    else:
        yield from (f'str({name}.dtype) == "torch.{dtype}"' for name in names)


def _read_from_parameters(launch: Launch, argument: ast.expr) -> str | None:
    """The argument's text where it only reads parameters that nothing sets, or a name that was set to such a text."""
    function = launch.function
    assert isinstance(function, ast.FunctionDef)
    free, bound = _untouched(launch), _bound(launch)
    if isinstance(argument, ast.Name) and argument.id in bound - free:
        places = [s for s in ast.walk(function) if isinstance(s, ast.stmt) and argument.id in _set_by(s)]
        match places:
            case [ast.Assign(targets=[ast.Name()], value=value) as place] if place in function.body:
                argument = value
            case _:
                return None
    names = {n.id for n in ast.walk(argument) if isinstance(n, ast.Name)}
    if not names & free or names & (bound - free) or not only_reads(argument):
        return None
    return in_parentheses(argument) if not isinstance(argument, ast.Compare) else ast.unparse(argument)


def _set_by(statement: ast.stmt) -> set[str]:
    """Names that the statement itself sets, not those that blocks inside it set."""
    if isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef)):
        blocks = {n.id for s in ast.iter_child_nodes(statement) if isinstance(s, ast.stmt) for n in _stores(s)}
        return stored(statement) - blocks
    return stored(statement)


def _stores(statement: ast.stmt) -> Iterator[ast.Name]:
    return (n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _is_layout(text: str) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in _LAYOUT for n in ast.walk(ast.parse(text)))


def _is_simple(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call))


def _parameters(launch: Launch) -> dict[str, ast.arg]:
    function = launch.function
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    return {a.arg: a for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _bound(launch: Launch) -> set[str]:
    """Names that the launching function binds in any way."""
    function = launch.function
    assert isinstance(function, ast.FunctionDef)
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if node is not function:
                found.add(name)
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
    return found


def _untouched(launch: Launch) -> set[str]:
    """The launching function's own parameters that nothing in it sets."""
    function = launch.function
    assert isinstance(function, ast.FunctionDef)
    return set(_parameters(launch)) - stored(function)


def _optional(launch: Launch) -> set[str]:
    """Parameters that may be None: the launcher asks, or the kernel does not use them whatever happens."""
    function = launch.function
    assert isinstance(function, ast.FunctionDef)
    asked = _compared_with_none(function)
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    asked |= {a.arg for a, d in pairs if isinstance(d, ast.Constant) and d.value is None}
    always = _always_used(launch)
    by_name: dict[str, set[str]] = {}
    for parameter, argument in launch.arguments.items():
        if isinstance(argument, ast.Name):
            by_name.setdefault(argument.id, set()).add(parameter)
    asked |= {name for name, received in by_name.items() if not received & always}
    return asked & set(_parameters(launch))


def _compared_with_none(function: ast.FunctionDef) -> set[str]:
    """Names that are compared with None, or asked whether they are true."""
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=None)]):
                found.add(name)
            case ast.If(test=ast.Name(id=name)) | ast.IfExp(test=ast.Name(id=name)):
                found.add(name)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)):
                found.add(name)
            case ast.BoolOp(values=values):
                found |= {v.id for v in values if isinstance(v, ast.Name)}
    return found


def _always_used(launch: Launch) -> set[str]:
    """Kernel parameters that the kernel computes with outside of any branch."""
    found: set[str] = set()
    pending: list[ast.AST] = list(launch.kernel.node.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.If, ast.IfExp, ast.For, ast.While)):
            pending.append(node.iter if isinstance(node, ast.For) else node.test)
        elif isinstance(node, ast.Compare) and any(
            isinstance(c, ast.Constant) and c.value is None for c in node.comparators
        ):
            continue
        else:
            if isinstance(node, ast.Name):
                found.add(node.id)
            pending += ast.iter_child_nodes(node)
    return found & set(launch.arguments)


def _needed(text: str) -> set[str]:
    """Names whose attributes a test reads, or that it orders, without a question for None of its own."""
    tree = ast.parse(text, mode="eval")
    asked = {
        n.left.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Compare)
        and isinstance(n.left, ast.Name)
        and any(isinstance(c, ast.Constant) and c.value is None for c in n.comparators)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(node.value.id)
        elif isinstance(node, ast.Compare) and any(isinstance(op, (ast.LtE, ast.Lt)) for op in node.ops):
            found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.BinOp):
            found |= {n.id for n in (node.left, node.right) if isinstance(n, ast.Name)}
    return found - asked


__all__ = ["dtype_tests", "further_sizes", "in_parentheses", "tests_for_none", "value_test"]
