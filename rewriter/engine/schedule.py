"""Applying a schedule: its primitives in order, each on the text the last one left."""

from __future__ import annotations

from collections.abc import Mapping

from skel.store.schema import NumericsClass, Skeleton, Step

from ..kernel.definition import Module, choose_kernel, load_module
from ..kernel.edits import OverlappingEdits, apply_edits
from ..reasons import Refuse, refuse
from .candidate import KEPT, Setting
from .registry import PRIMITIVES
from .verify import verify_result


def apply_schedule(skeleton: Skeleton, module: Module, kernel: str, settings: Mapping[str, Setting]) -> tuple[str, NumericsClass]:
    """The rewritten file and the join of the steps' numerics classes.

    Raises Refuse where a step does not apply, or where the result does not hold what was proved.
    """
    numerics = NumericsClass.BITWISE
    current = module
    for step in skeleton.schedule:
        arguments = step_arguments(step, settings)
        if arguments is None:
            continue
        primitive = PRIMITIVES[step.primitive]
        edits = primitive.apply(current, choose_kernel(current, kernel), **arguments)
        numerics = numerics.join(primitive.numerics)
        try:
            text = apply_edits(current.source.text, edits)
        except OverlappingEdits as overlap:
            line = current.source.text.count("\n", 0, overlap.offset) + 1
            raise refuse("edits_overlap", line, primitive=step.primitive) from None
        current = _reread(text, current)
    verify_result(module, current, kernel)
    return current.source.text, numerics


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
