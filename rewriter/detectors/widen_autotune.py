"""widen_autotune. Used: configurations that are pruned by shape and by what the device has."""

from __future__ import annotations

import ast

from .base import Detector, Seen
from .view import KernelView


def _uses(view: KernelView) -> list[Seen]:
    tuner = view.kernel.autotune
    if tuner is None:
        return []
    return [
        Seen(k.value.lineno, "prunes its configurations before they are timed")
        for k in tuner.keywords
        if k.arg == "prune_configs_by"
        and any(isinstance(n, ast.Constant) and n.value == "early_config_prune" for n in ast.walk(k.value))
    ]


DETECTOR = Detector("widen_autotune", _uses)
