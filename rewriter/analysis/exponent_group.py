"""A group of exponents that change their unit together, and what decides where such a group ends."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..kernel.definition import KernelDef
from .flow import Definition


@dataclass(frozen=True)
class Obstacle:
    """Why a group cannot change its unit: a refusal code and the place."""

    code: str
    node: ast.AST
    base: str = "2"


@dataclass
class Group:
    """Values that change their unit together."""

    sinks: list[ast.Call] = field(default_factory=list)
    """The exponentials."""
    nodes: set[ast.expr] = field(default_factory=set)
    """Expressions in the new unit that another one in the new unit uses."""
    definitions: set[Definition] = field(default_factory=set)
    """Names in the new unit."""
    factors: list[ast.expr] = field(default_factory=list)
    """Scalar factors that take log2(e) at no cost."""
    inserts: list[ast.expr] = field(default_factory=list)
    """Expressions that must be multiplied by log2(e)."""
    conversions: list[ast.expr] = field(default_factory=list)
    """Uses that expect the natural unit: multiplied by ln(2) there."""
    obstacle: Obstacle | None = None

    def hinder(self, code: str, node: ast.AST, base: str = "2") -> None:
        self.obstacle = self.obstacle or Obstacle(code, node, base)


def linear_parameters(helper: KernelDef) -> set[str]:
    """Parameters that a helper's only result has as a factor, once: scaling the argument scales the result."""
    body = helper.node.body
    returns = [n for n in ast.walk(helper.node) if isinstance(n, ast.Return)]
    if len(returns) != 1 or body[-1] is not returns[0] or returns[0].value is None:
        return set()
    used = [n.id for n in ast.walk(helper.node) if isinstance(n, ast.Name)]
    factors = _factors(returns[0].value)
    return {
        f.id for f in factors if isinstance(f, ast.Name) and f.id in helper.parameter_names and used.count(f.id) == 1
    }


def _factors(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _factors(left) + _factors(right)
        case ast.BinOp(left=left, op=ast.Div()):
            return _factors(left)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _factors(inner)
        case _:
            return [node]


def is_live(made: Definition) -> bool:
    """True where a definition is used at all, here or after paths meet."""
    return next(iter(uses_after(made)), None) is not None


def uses_after(made: Definition) -> Iterable[ast.Name]:
    """Uses of a definition and of those that take it over."""
    seen: set[Definition] = set()
    pending = [made]
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        yield from one.uses
        pending += one.feeds


def merge(group: Group, other: Group) -> None:
    """Add another group, met through a shared name, to the first."""
    group.sinks = other.sinks + group.sinks
    group.nodes |= other.nodes
    group.definitions |= other.definitions
    group.factors += [f for f in other.factors if f not in group.factors]
    group.inserts += [i for i in other.inserts if i not in group.inserts]
    group.obstacle = other.obstacle or group.obstacle
