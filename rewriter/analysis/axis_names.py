"""How a kernel names a grid axis, and what to rename where a loop variable takes its place."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..kernel.definition import Module
from ..kernel.edits import Edit
from ..kernel.source import SourceFile
from ..reasons import refuse
from .axes import Axis
from .facts import Facts
from .value import Value


@dataclass(frozen=True)
class AxisNames:
    """The axis' name in the kernel, the new name of what the program id now counts, and the places to change."""

    name: str
    """What the loop variable is called: the kernel's own name for the axis."""
    group: str
    """What the program's own index is called: a group of tiles."""
    statements: tuple[ast.stmt, ...]
    """Top-level statements that decode the axis; they stay before the loop."""
    target: ast.Name
    """The place that names the axis."""
    divisors: tuple[ast.expr, ...]
    """Of a flattened id: every count of this axis' tiles in a decoding."""
    tiles: str
    """The parameter that says how many tiles a program walks."""
    language: str
    """What the file calls `triton.language`."""

    def edits(self, source: SourceFile) -> list[Edit]:
        """Rename the axis where it is made, and divide its count where other parts of the id are decoded."""
        start, end = source.span(self.target)
        found = [Edit(start, end, self.group)]
        for node in self.divisors:
            begin, finish = source.span(node)
            found.append(Edit(begin, finish, f"{self.language}.cdiv({source.text[begin:finish]}, {self.tiles})"))
        return found


def axis_names(facts: Facts, axis: Axis, body: list[ast.stmt], tiles: str) -> AxisNames:
    """Where and how the kernel makes the axis.

    Raises Refuse(unknown_construct) where it is not a name set once by a statement of the kernel itself, or where the
    program id is used otherwise.
    """
    kernel, language = facts.kernel, language_name(facts.module)
    targets = _targets(facts, axis)
    if len(targets) != 1:
        where = targets[1] if len(targets) > 1 else kernel.node
        raise refuse("unknown_construct", where, construct=f"the axis {axis}, which is not one name set once")
    target = targets[0]
    decoding = tuple(s for s in body if target in ast.walk(s) or _only_decodes(facts, axis, s))
    if not any(target in ast.walk(s) for s in decoding):
        raise refuse("unknown_construct", target, construct="a program id decoded inside a branch")
    _require_no_other_use(facts, axis, decoding, target.id)
    group = f"{target.id}_group"
    taken = {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name)} | set(kernel.parameter_names)
    if group in taken:
        raise refuse("name_taken", kernel.node, name=group, scope=kernel.name)
    return AxisNames(target.id, group, decoding, target, _divisors(facts, axis), tiles, language)


def _targets(facts: Facts, axis: Axis) -> list[ast.Name]:
    """Names that are set to just the axis, each place once."""
    found: dict[ast.Name, None] = {}
    for events in facts.runs:
        for node, value in events.values.items():
            atom = value.poly.sole_atom() if value.poly is not None else None
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Store)
                and atom is not None
                and atom.kind == "axis"
                and atom.axis == axis
            ):
                found[node] = None
    return sorted(found, key=lambda n: (n.lineno, n.col_offset))


def _only_decodes(facts: Facts, axis: Axis, statement: ast.stmt) -> bool:
    """True for a statement that only names the whole id of which the axis is a part."""
    if not isinstance(statement, ast.Assign):
        return False
    names = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return (
        bool(names)
        and all(_is_ancestor(facts, axis, n) or not _value_depends(facts, axis, n) for n in names)
        and any(_is_ancestor(facts, axis, n) for n in names)
    )


def _is_ancestor(facts: Facts, axis: Axis, node: ast.AST) -> bool:
    for events in facts.runs:
        value = events.values.get(node)
        atom = value.poly.sole_atom() if value is not None and value.poly is not None else None
        if atom is None or atom.kind != "axis" or atom.axis == axis:
            return False
        found = atom.axis
        if found.root != axis.root or axis.steps[: len(found.steps)] != found.steps:
            return False
    return True


def _value_depends(facts: Facts, axis: Axis, node: ast.AST) -> bool:
    return any(node in e.values and e.values[node].depends_on(axis) for e in facts.runs)


def _require_no_other_use(facts: Facts, axis: Axis, decoding: tuple[ast.stmt, ...], name: str) -> None:
    """Outside the decoding, the id and its parts above the axis must not be read: they now count groups of tiles."""
    inside = {n for s in decoding for n in ast.walk(s)}
    for node in ast.walk(facts.kernel.node):
        if (
            node in inside
            or not isinstance(node, (ast.Name, ast.Call, ast.BinOp))
            or not any(node in e.values for e in facts.runs)
        ):
            continue
        if isinstance(node, ast.Name) and (node.id == name or not isinstance(node.ctx, ast.Load)):
            continue
        made_again = isinstance(node, (ast.Call, ast.BinOp)) and _is_axis(facts, axis, node)
        if (made_again or _is_ancestor(facts, axis, node)) and not _inside_part(facts, axis, node):
            raise refuse("axis_used_otherwise", node, axis=name)


def _is_axis(facts: Facts, axis: Axis, node: ast.AST) -> bool:
    for events in facts.runs:
        value = events.values.get(node)
        atom = value.poly.sole_atom() if value is not None and value.poly is not None else None
        if atom is not None and atom.kind == "axis" and atom.axis == axis:
            return not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to")
    return False


def _inside_part(facts: Facts, axis: Axis, node: ast.AST) -> bool:
    """True where the id stands in an expression that takes an independent part of it: `pid // NV`."""
    parent = facts.module.source.parents.get(node)
    while isinstance(parent, ast.expr):
        if any(parent in e.values and not e.values[parent].depends_on(axis) for e in facts.runs):
            return True
        parent = facts.module.source.parents.get(parent)
    return False


def _divisors(facts: Facts, axis: Axis) -> tuple[ast.expr, ...]:
    """Counts of the axis' tiles wherever the flattened id is divided by them."""
    if not axis.steps or axis.steps[-1][0] != "%":
        return ()
    count = axis.steps[-1][1]
    found: dict[ast.expr, None] = {}
    for node in ast.walk(facts.kernel.node):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Mod, ast.FloorDiv)):
            continue
        if not any(
            node in e.values and node.left in e.values and _of_same_id(e.values[node.left], axis) for e in facts.runs
        ):
            continue
        for factor in _factors(node.right):
            if any(factor in e.values and _key(e.values[factor]) == count for e in facts.runs):
                found[factor] = None
    return tuple(found)


def _of_same_id(value: Value, axis: Axis) -> bool:
    return any(a.root == axis.root for a in value.uniform)


def _key(value: Value) -> str | None:
    return value.poly.key if value.poly is not None else None


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def language_name(module: Module) -> str:
    """What the file calls `triton.language`. Raises Refuse where it has no name for it."""
    for name, dotted in module.names.imported.items():
        if dotted == "triton.language":
            return name
    for name, dotted in module.names.imported.items():
        if dotted == "triton":
            return f"{name}.language"
    raise refuse("unknown_construct", 1, construct="a file without a name for triton.language")
