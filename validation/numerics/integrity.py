"""Whether a target left alone what judges it: library functions, timers, and this package's own."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

WATCHED = (
    *("builtins", "time", "torch", "torch.cuda", "torch.testing", "torch.utils.benchmark"),
    *("triton.testing", "triton.runtime.jit", "triton.runtime.interpreter", "triton.runtime.autotuner"),
)
"""Modules whose functions and classes must stay what they are; all loaded ones of this package with them."""
CLASSES = ("torch.Tensor", "torch.cuda.Event", "torch.cuda.Stream", "torch.cuda.CUDAGraph")
"""Classes whose methods must."""


class Integrity:
    """What every watched name was when this was made."""

    def __init__(self) -> None:
        self._before = {name: value for place in _places() for name, value in _callables(place)}

    def changed(self) -> list[str]:
        """Names that are another object now, or gone."""
        now = {name: value for place in _places() for name, value in _callables(place)}
        return sorted(name for name, value in self._before.items() if now.get(name) is not value)


def _places() -> list[Any]:
    own = [name for name in sys.modules if name.startswith("skel.validation.")]
    found: list[Any] = []
    for name in (*WATCHED, *own):
        try:
            found.append(importlib.import_module(name))
        except ImportError:
            continue
    for path in CLASSES:
        module, _, name = path.rpartition(".")
        if module in sys.modules and hasattr(sys.modules[module], name):
            found.append(getattr(sys.modules[module], name))
    return found


def _callables(place: Any) -> list[tuple[str, Any]]:
    """Functions and classes of a module, with the methods of its own classes; of a class its methods."""
    prefix = place.__name__ if isinstance(place, ModuleType) else f"{place.__module__}.{place.__qualname__}"
    found = []
    for name, value in list(vars(place).items()):
        if callable(value) or isinstance(value, (staticmethod, classmethod)):
            found.append((f"{prefix}.{name}", value))
        if isinstance(value, type) and value.__module__ == prefix:
            found += [(f"{prefix}.{name}.{key}", one) for key, one in list(vars(value).items()) if callable(one)]
    return found
