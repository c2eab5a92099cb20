"""separate_tuples: one statement a name, where only some names of a tuple assignment depend on the tile.

rewrite:  m_k, m_v = o_k < K, o_v < V  ->  m_k = o_k < K
                                           m_v = o_v < V

A step of fuse_axis_loop: what does not depend on the tile can then move before the loop.

Numerics
    `bitwise`: the same expressions in the same order.
"""

from __future__ import annotations

import ast

from ..analysis.axes import Axis
from ..analysis.facts import Facts, analyse
from ..conditions.fusable_axis import choose_axis
from ..kernel.definition import KernelDef, Module, load_module
from ..kernel.edits import Edit, apply_edits
from ..kernel.source import SourceFile


def separate_tuples(module: Module, kernel: KernelDef, axis: str | None = None) -> Module | None:
    """The module with mixed tuple assignments of the kernel's top level separated; None where there are none.

    Raises Refuse where the kernel has no axis to fuse.
    """
    facts = analyse(module, kernel)
    chosen = choose_axis(facts, axis).axis
    edits = [e for s in kernel.node.body for e in _separated(facts, chosen, s)]
    if not edits:
        return None
    return load_module(apply_edits(module.source.text, edits), module.source.path)


def _separated(facts: Facts, axis: Axis, statement: ast.stmt) -> list[Edit]:
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            pass
        case _:
            return []
    names = [t.id for t in targets if isinstance(t, ast.Name)]
    read = {n.id for v in values for n in ast.walk(v) if isinstance(n, ast.Name)}
    depends = [_depends(facts, axis, t) for t in targets]
    if len(names) != len(targets) or read & set(names) or all(depends) or not any(depends):
        return []
    if any(_names_axis(facts, axis, t) for t in targets):
        # The statement that decodes the axis stays whole.
        return []
    source = facts.module.source
    start, end = source.span(statement)
    line = source.lines[statement.lineno - 1]
    if line[: statement.col_offset].strip() or _has_comment(source.text[start:end]):
        return []
    gap = source.newline + source.indent(statement)
    return [
        Edit(
            start,
            end,
            gap.join(
                f"{t.id} = {_text(source, v)}" for t, v in zip(targets, values, strict=True) if isinstance(t, ast.Name)
            ),
        )
    ]


def _text(source: SourceFile, value: ast.expr) -> str:
    """The value's source; in parentheses where it runs over several lines."""
    text = source.segment(value)
    return f"({text})" if "\n" in text or "\r" in text else text


def _has_comment(text: str) -> bool:
    return "#" in text


def _depends(facts: Facts, axis: Axis, target: ast.expr) -> bool:
    return any(target in e.values and e.values[target].depends_on(axis) for e in facts.runs)


def _names_axis(facts: Facts, axis: Axis, target: ast.expr) -> bool:
    for events in facts.runs:
        value = events.values.get(target)
        atom = value.poly.sole_atom() if value is not None and value.poly is not None else None
        if atom is not None and atom.kind == "axis" and atom.axis == axis:
            return True
    return False
