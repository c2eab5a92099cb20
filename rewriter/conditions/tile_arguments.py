"""Parameters whose argument follows from the tile, such as the number of tiles: they change when the tile does."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence

from ..analysis.facts import Facts
from ..kernel.autotune import heuristics_of
from ..kernel.count import Count
from ..kernel.definition import KernelDef, Module
from ..kernel.idioms import identity
from ..kernel.launch import Launch
from ..kernel.scope import reaching

MAX_STEPS = 6
"""Assignments followed from an argument towards the tile."""


def tile_arguments(
    facts: Facts, launches: Sequence[Launch], counts: Mapping[Launch, Sequence[Count]], tile: str
) -> frozenset[str]:
    """Kernel parameters, other than `tile` itself, that some launch computes from the tile or from the tile count.

    Tensors do not count: what is read of their shapes is for the conditions on the launcher.
    """
    module = facts.module
    pointers = frozenset(base for access in facts.accesses for base in access.pointer.bases)
    return heuristics_by_tile(facts.kernel, tile) | frozenset(
        name
        for launch in launches
        for name, argument in launch.arguments.items()
        if name != tile
        and name not in pointers
        and not isinstance(argument, ast.Constant)
        and _follows(module, argument, _Wanted(module, launch, counts.get(launch, ()), tile), MAX_STEPS)
    )


MASKS = frozenset({"mask", "other", "boundary_check", "padding_option"})
"""Arguments that say which lanes of an access happen."""


def heuristics_by_tile(kernel: KernelDef, tile: str) -> frozenset[str]:
    """Parameters that a heuristic computes from the tile, and with which more than masks changes.

    `EVEN = V % BV == 0` may choose between an access with a mask and the same one without.
    """
    found = set()
    for name, function in heuristics_of(kernel):
        reads = any(isinstance(n, ast.Constant) and n.value == tile for n in ast.walk(function))
        if reads and not (_divides(function) and _chooses_masks_only(kernel, name)):
            found.add(name)
    return frozenset(found)


def _divides(function: ast.expr) -> bool:
    """True for `lambda args: args["V"] % args["BV"] == 0`."""
    match function:
        case ast.Lambda(body=ast.Compare(left=ast.BinOp(op=ast.Mod()), ops=[ast.Eq()], comparators=[zero])):
            return isinstance(zero, ast.Constant) and zero.value == 0
    return False


def _chooses_masks_only(kernel: KernelDef, name: str) -> bool:
    tests = {n.test: n for n in ast.walk(kernel.node) if isinstance(n, ast.If)}
    reads = [n for n in ast.walk(kernel.node) if isinstance(n, ast.Name) and n.id == name]
    return all(n in tests and _unmasked(tests[n].body) == _unmasked(tests[n].orelse) for n in reads)


def _unmasked(body: list[ast.stmt]) -> list[str]:
    """The statements as they read without the masks of their accesses."""
    found = [copy.deepcopy(s) for s in body]
    for call in (n for s in found for n in ast.walk(s) if isinstance(n, ast.Call)):
        call.keywords = [k for k in call.keywords if k.arg not in MASKS]
    return [ast.unparse(s) for s in found]


class _Wanted:
    """What an expression must hold to follow from the tile of one launch."""

    def __init__(self, module: Module, launch: Launch, counts: Sequence[Count], tile: str) -> None:
        argument = launch.arguments.get(tile)
        named = argument is not None and not isinstance(argument, ast.Constant)
        self.tile = identity(module, argument) if argument is not None and named else None
        self.divisions = {ast.unparse(c.count_node) for c in counts}
        self.names = {id(b.node) for c in counts for b in c.bindings}
        self.module = module

    def holds(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name | ast.Subscript | ast.Attribute) and self.tile is not None:
            if identity(self.module, node) == self.tile:
                return True
        return ast.unparse(node) in self.divisions


def _follows(module: Module, node: ast.expr, wanted: _Wanted, steps: int) -> bool:
    for part in ast.walk(node):
        if not isinstance(part, ast.expr):
            continue
        if wanted.holds(part):
            return True
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and steps:
            for binding in reaching(module.source, part.id, part):
                if id(binding.node) in wanted.names:
                    return True
                if binding.value is not None and _follows(module, binding.value, wanted, steps - 1):
                    return True
    return False
