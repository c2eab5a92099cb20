"""Launcher parameters whose default a variant changes: the guard must not pass the original's default on to it."""

from __future__ import annotations

import ast

from ..reasons import refuse


def changed_defaults(before: ast.FunctionDef, after: ast.FunctionDef | None) -> dict[str, str]:
    """Parameter to the condition, as source text, that it still has the default that it has in `before`.

    A parameter that the caller sets is the caller's choice: then the original runs.
    Raises Refuse(`guard_not_possible`) where the parameters differ in more than their defaults, or a default is no
    constant: only a constant can be compared with what was given.
    """
    old, new = _defaults(before), _defaults(after) if after is not None else {}
    if list(old) != list(new):
        raise refuse("guard_not_possible", before, why="the variant's launching function takes other parameters")
    found: dict[str, str] = {}
    for name, default in old.items():
        other = new[name]
        if default is not None and other is not None and ast.dump(default) == ast.dump(other):
            continue
        if default is None and other is None:
            continue
        if not isinstance(default, ast.Constant):
            raise refuse("guard_not_possible", before, why=f"the default of `{name}` is no constant")
        same = "is" if default.value is None or isinstance(default.value, bool) else "=="
        found[name] = f"{name} {same} {ast.unparse(default)}"
    return found


def pass_on(function: ast.FunctionDef, left_out: frozenset[str] = frozenset()) -> str:
    """The arguments of a call that hands the function's parameters on, without those `left_out`.

    After the first that is left out by position the others go by name.
    Raises Refuse(`guard_not_possible`) for a positional-only one after it.
    """
    found: list[str] = []
    by_name = False
    for argument in function.args.posonlyargs:
        if argument.arg in left_out:
            by_name = True
        elif by_name:
            raise refuse("guard_not_possible", function, why=f"`{argument.arg}` can only be given by position")
        else:
            found.append(argument.arg)
    for argument in function.args.args:
        if argument.arg in left_out:
            by_name = True
        else:
            found.append(f"{argument.arg}={argument.arg}" if by_name else argument.arg)
    if function.args.vararg is not None:
        if by_name:
            raise refuse("guard_not_possible", function, why=f"`*{function.args.vararg.arg}` can only follow positions")
        found.append(f"*{function.args.vararg.arg}")
    found += [f"{a.arg}={a.arg}" for a in function.args.kwonlyargs if a.arg not in left_out]
    if function.args.kwarg is not None:
        found.append(f"**{function.args.kwarg.arg}")
    return ", ".join(found)


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr | None]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    found = dict(zip((a.arg for a in positional), [*missing, *arguments.defaults], strict=True))
    return found | dict(zip((a.arg for a in arguments.kwonlyargs), arguments.kw_defaults, strict=True))
