"""Applying a schedule: its primitives in order, each on the text the last one left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skel.store.schema import NumericsClass, Skeleton, Step

from ..kernel.definition import Module, choose_kernel, load_module
from ..kernel.edits import Edit, OverlappingEdits, apply_edits
from ..reasons import Refuse, refuse
from .candidate import KEPT, Setting
from .registry import PRIMITIVES
from .verify import verify_result

Outcome = Module | Refuse
Memory = dict[tuple[str, str, tuple[tuple[str, Setting], ...]], Outcome]
"""What a step did to a text: candidates share their first steps, and each step is done once."""


def apply_schedule(
    skeleton: Skeleton, module: Module, kernel: str, settings: Mapping[str, Setting], memory: Memory | None = None
) -> tuple[str, NumericsClass]:
    """The rewritten file and the join of the steps' numerics classes.

    Raises Refuse where a step does not apply, or where the result does not hold what was proved.
    """
    numerics = NumericsClass.BITWISE
    current = module
    for name, arguments in steps_taken(skeleton, settings):
        current = _taken(name, current, kernel, arguments, {} if memory is None else memory)
        numerics = numerics.join(PRIMITIVES[name].numerics)
    verify_result(module, current, kernel)
    return current.source.text, numerics


def steps_taken(skeleton: Skeleton, settings: Mapping[str, Setting]) -> Iterator[tuple[str, dict[str, Setting]]]:
    """Primitives and their arguments, in order: the launcher's own arguments first, then the schedule."""
    decided = {d.name for d in skeleton.decisions}
    for name, value in settings.items():
        if name not in decided and value != KEPT:
            yield "set_launcher_default", {"name": name, "value": value}
    for step in skeleton.schedule:
        arguments = step_arguments(step, settings)
        if arguments is not None:
            yield step.primitive, arguments


def _taken(name: str, module: Module, kernel: str, arguments: dict[str, Setting], memory: Memory) -> Module:
    """The module after one step. Raises Refuse."""
    key = (name, module.source.text, tuple(sorted(arguments.items())))
    if key not in memory:
        try:
            edits = PRIMITIVES[name].apply(module, choose_kernel(module, kernel), **arguments)
            memory[key] = _reread(_edited(name, module, edits), module)
        except Refuse as refused:
            memory[key] = refused
    outcome = memory[key]
    if isinstance(outcome, Refuse):
        raise outcome
    return outcome


def _edited(name: str, module: Module, edits: list[Edit]) -> str:
    try:
        return apply_edits(module.source.text, edits)
    except OverlappingEdits as overlap:
        line = module.source.text.count("\n", 0, overlap.offset) + 1
        raise refuse("edits_overlap", line, primitive=name) from None


def step_arguments(step: Step, settings: Mapping[str, Setting]) -> dict[str, Setting] | None:
    """The step's arguments with decisions filled in; None where the step is not taken."""
    if any(settings.get(name) != value for name, value in step.when.items()):
        return None
    filled: dict[str, Setting] = {}
    for name, value in step.arguments.items():
        if isinstance(value, str) and value.startswith("$"):
            decided = settings.get(value[1:], KEPT)
            if decided == KEPT:
                continue
            value = decided
        filled[name] = value
    # A step all of whose decisions are "kept" changes nothing.
    if not filled and step.arguments:
        return None
    return filled


def _reread(text: str, before: Module) -> Module:
    try:
        return load_module(text, before.source.path)
    except Refuse as broken:
        raise refuse("inconsistent_result", broken.refusal.line, what=broken.refusal.message) from None
