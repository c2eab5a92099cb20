"""dependent_launch. Used: the grid-dependency calls, which let a launch overlap the end of the one before."""

from __future__ import annotations

from .base import Detector, Seen
from .view import KernelView

_CALLS = ("gdc_wait", "gdc_launch_dependents")


def _uses(view: KernelView) -> list[Seen]:
    return [Seen(body.at(call), f"calls {name}") for body in view.bodies for call, name in body.calls if name in _CALLS]


DETECTOR = Detector("dependent_launch", _uses)
