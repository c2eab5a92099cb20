"""Facts of one kernel: the interpreter's events, with constexpr branches split where their arms disagree in rank."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..kernel.definition import KernelDef, Module
from .axes import Axis
from .events import Access, Events, Exit, Unknown, Work
from .interpreter import Interpreter
from .poly import Atom

MAX_FLAGS = 5
"""Constexpr tests split at most: 2^5 runs."""


@dataclass(frozen=True)
class Facts:
    """Everything recorded over all runs; a run is one choice of the split constexpr tests."""

    module: Module
    kernel: KernelDef
    runs: tuple[Events, ...]
    split: tuple[str, ...]
    """Source text of the constexpr tests that were split."""

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        """Every load, store and atomic, in source order, once per run that reaches it."""
        found = [a for events in self.runs for a in events.accesses.values()]
        return tuple(sorted(found, key=lambda a: (a.line, a.node.lineno, a.node.col_offset)))

    @cached_property
    def stores(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if a.kind != "load")

    @cached_property
    def loads(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if a.kind == "load")

    @cached_property
    def work(self) -> tuple[Work, ...]:
        found = {id(w.node): w for events in self.runs for w in events.work.values()}
        return tuple(sorted(found.values(), key=lambda w: (w.line, w.node.col_offset)))

    @property
    def exits(self) -> tuple[Exit, ...]:
        return tuple(e for events in self.runs for e in events.exits.values())

    @property
    def unknowns(self) -> tuple[Unknown, ...]:
        return tuple(u for events in self.runs for u in events.unknowns.values())

    @cached_property
    def program_counts(self) -> dict[int, object]:
        return {k: v for events in self.runs for k, v in events.program_counts.items()}

    @cached_property
    def tiled_axes(self) -> tuple[Axis, ...]:
        """Axes that walk tiles: some access runs along their lanes. In the order of the grid."""
        found = {a for access in self.accesses for a in access.pointer.lanes}
        return tuple(sorted(found, key=str))

    def tile_sizes(self, axis: Axis) -> tuple[str, ...]:
        """Keys of the sizes by which `axis` is tiled: usually one, the name of a constexpr parameter.

        Values count as well as accesses: a second tiling of the axis may end up where no polynomial follows it.
        """
        return tuple(sorted({atom.size for atom in self._lane_atoms if axis in atom.axes}))

    @cached_property
    def _lane_atoms(self) -> frozenset[Atom]:
        values = [a.pointer for a in self.accesses] + [v for events in self.runs for v in events.values.values()]
        polys = {value.poly for value in values if value.poly is not None}
        return frozenset(atom for poly in polys for atom in poly.atoms if atom.kind == "lane")

    def axis_name(self, axis: Axis) -> str:
        """The kernel's own name for an axis, for messages: the first variable that holds just it."""
        import ast

        for events in self.runs:
            for node, value in events.values.items():
                atom = value.poly.sole_atom() if value.poly is not None else None
                if (
                    isinstance(node, ast.Name)
                    and isinstance(node.ctx, ast.Store)
                    and atom is not None
                    and axis in atom.axes
                    and atom.kind == "axis"
                ):
                    return node.id
        return str(axis)


@lru_cache(maxsize=64)
def analyse(module: Module, kernel: KernelDef) -> Facts:
    """Interpret a kernel; where arms of constexpr tests disagree in rank, once for each choice of those tests."""
    first = Interpreter(module, kernel).run()
    flags = tuple(sorted(first.conflicts))[:MAX_FLAGS]
    if not flags:
        return Facts(module, kernel, (first,), ())
    runs = []
    for choice in itertools.product((True, False), repeat=len(flags)):
        runs.append(Interpreter(module, kernel, dict(zip(flags, choice, strict=True))).run())
    return Facts(module, kernel, tuple(runs), flags)
