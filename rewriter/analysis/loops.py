"""Loops: the body is interpreted again with what its end gives to its head, until nothing changes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..reasons import refuse
from . import poly as P
from .arithmetic import elementwise
from .events import Condition
from .joins import join, taint
from .syntax import assigned_names
from .value import Environment, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter

MAX_DEPTH = 10
"""Loops inside loops at most: every one doubles how often the innermost body is interpreted."""
MAX_ROUNDS = 6
"""Rounds before a loop that has not settled gives its names up as unknown."""


def run_for(run: Interpreter, node: ast.For, env: Environment) -> Environment:
    """A `for` loop: its variable is one opaque scalar, its body runs until nothing changes."""
    trips = _iteration(run, node.iter, env)
    variable = _loop_variable(run, node, trips)
    entry = env

    def start(header: Environment) -> None:
        run.assign(node.target, variable, header)

    after = _loop(run, node, env, start, trips)
    return run.block(node.orelse, after) if node.orelse else after if after.reachable else entry


def _iteration(run: Interpreter, iterator: ast.expr, env: Environment) -> Value:
    """What the trip count depends on."""
    if isinstance(iterator, ast.Call):
        values = [run.eval(a, env) for a in iterator.args]
        values += [run.eval(k.value, env) for k in iterator.keywords]
        return elementwise(values, iterator.lineno, "range") if values else Value()
    return run.eval(iterator, env)


def _loop_variable(run: Interpreter, node: ast.For, trips: Value) -> Value:
    if trips.items is not None:
        value = trips.items[0] if trips.items else Value()
        for i, item in enumerate(trips.items[1:]):
            value = join(value, item, f"for{run.site(node)}.{i}")
        return value
    axes = trips.uniform | trips.lanes
    return Value(
        poly=P.opaque(f"loop:{run.site(node)}", axes, trips.symbols),
        uniform=axes,
        symbols=trips.symbols,
        cross=trips.cross,
        lost=trips.lost,
        memory=trips.memory,
        dtype="int32",
    )


def run_while(run: Interpreter, node: ast.While, env: Environment) -> Environment:
    """A `while` loop."""
    test = run.eval(node.test, env)

    def start(header: Environment) -> None:
        run.eval(node.test, header)

    return _loop(run, node, env, start, test)


def _loop(
    run: Interpreter, node: ast.For | ast.While, env: Environment, start: Callable[[Environment], None], trips: Value
) -> Environment:
    """Join the loop's end into its head until nothing changes. Raises Refuse for loops that are nested too deep."""
    if run.loop_depth >= MAX_DEPTH:
        raise refuse("unknown_construct", node.lineno, construct=f"a loop inside {MAX_DEPTH} others")
    key = f"loop{run.site(node)}"
    header = env.copy()
    set_inside = assigned_names(node.body)
    top = run.frame.top
    run.loop_depth += 1
    condition = Condition(trips, node.iter if isinstance(node, ast.For) else node.test, True)
    try:
        for round_number in range(MAX_ROUNDS + 1):
            inside = header.copy()
            start(inside)
            run.conditions.append(condition)
            end = run.block(node.body, inside)
            run.conditions.pop()
            run.frame.top = top
            again = _joined_header(run, env, header, end, key, trips, set_inside)
            if again.names == header.names:
                break
            header = _widened(run, header, again, node) if round_number == MAX_ROUNDS - 1 else again
    finally:
        run.loop_depth -= 1
    names = dict(end.names)
    for name, value in header.names.items():
        names[name] = join(value, end.names[name], f"{key}:end:{name}") if name in end.names else value
    for name in set_inside & names.keys():
        names[name] = taint(names[name], trips, f"{key}:{name}")
    return Environment(names, env.reachable)


def _joined_header(
    run: Interpreter,
    env: Environment,
    header: Environment,
    end: Environment,
    key: str,
    trips: Value,
    set_inside: set[str],
) -> Environment:
    """What holds at the loop's head after one more round; what the body sets depends on the number of rounds."""
    names = dict(header.names)
    for name in env.names:
        if name not in end.names or not end.reachable:
            continue
        if name in set_inside or end.names[name] != header.names[name]:
            joined = join(header.names[name], end.names[name], f"{key}:{name}")
            names[name] = taint(joined, trips, f"{key}:{name}")
    return Environment(names)


def _widened(run: Interpreter, old: Environment, new: Environment, node: ast.AST) -> Environment:
    """A loop that does not settle: what still changes is unknown."""
    names = dict(new.names)
    for name, value in new.names.items():
        if old.names.get(name) != value:
            names[name] = run.lose(value, node, "a loop that does not settle")
    return Environment(names)
