"""What was timed must be what was checked: the binaries of a final held against those of the steps before it. Pure."""

from __future__ import annotations

from typing import Any

from ..binaries import other_binaries
from ..numerics.outputs import Fact
from .lines import Line
from .names import CONTROL, OWN
from .state import State


def with_binaries_held(state: State, final: Line) -> dict[str, list[Fact]]:
    """The facts of a final by name, and what its figures show to be another binary than was checked on that workload.

    The control is held against the original beside it. The original in its own best configuration is left out: that is
    chosen by time, after the check of the original as shipped.
    """
    facts = dict(final["facts"])
    for name, ran in final["figures"].items():
        if name == OWN:
            continue
        checked, step = _checked(state, final, name)
        if found := other_binaries(name, ran, checked, step, same_text=True):
            facts[name] = [*facts.get(name, []), *found]
    return facts


def _checked(state: State, final: Line, name: str) -> tuple[list[dict[str, Any]], str]:
    if name == CONTROL:
        return final["figures"].get("original", []), "the original beside it"
    if name == "original":
        line = state.last("baseline", workload=final["workload"])
        return (line["launches"] if line else []), "the baseline"
    line = state.last("verified", workload=final["workload"], candidate=name)
    return (line["figures"] if line else []), "its check"
