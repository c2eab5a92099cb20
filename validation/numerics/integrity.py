"""Whether a target left alone what judges it: library functions, timers, and this package's own."""

from __future__ import annotations

import ctypes
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ..isolation.compiled_here import switched_off

WATCHED = (
    *("builtins", "time", "torch", "torch.cuda", "torch.testing", "torch.utils.benchmark"),
    *("triton.testing", "triton.runtime.jit", "triton.runtime.interpreter", "triton.runtime.autotuner"),
    *("triton.runtime.cache", "triton.compiler.compiler"),
)
"""Modules whose functions and classes must stay what they are; all loaded ones of this package with them."""
CLASSES = ("torch.Tensor", "torch.cuda.Event", "torch.cuda.Stream", "torch.cuda.CUDAGraph")
"""Classes whose methods must."""


LIMITS = {
    0: "cudaLimitStackSize",
    1: "cudaLimitPrintfFifoSize",
    2: "cudaLimitMallocHeapSize",
    5: "cudaLimitMaxL2FetchGranularity",
    6: "cudaLimitPersistingL2CacheSize",
}
"""Limits of a device by CUDA's number (CUDA Runtime API, enum cudaLimit): they hold for the whole context."""


class Integrity:
    """What every watched name was when this was made; on a GPU also what limits its device had."""

    def __init__(self, device: str = "cpu") -> None:
        self._device = device
        self._limits = self._read_limits()
        self._before = {name: value for place in _places() for name, value in _callables(place)}

    def changed(self) -> list[str]:
        """Names that are another object now, or gone."""
        now = {name: value for place in _places() for name, value in _callables(place)}
        return sorted(name for name, value in self._before.items() if now.get(name) is not value) + switched_off()

    def settings(self) -> list[dict[str, Any]]:
        """Limits of the device that are others now: name, before, after."""
        now = self._read_limits()
        return [
            {"name": name, "before": before, "after": now.get(name)}
            for name, before in self._limits.items()
            if now.get(name) != before
        ]

    def _read_limits(self) -> dict[str, int]:
        runtime = _cuda_runtime() if self._device.startswith("cuda") else None
        found: dict[str, int] = {}
        if runtime is None:
            return found
        for number, name in LIMITS.items():
            value = ctypes.c_size_t()
            if runtime.cudaDeviceGetLimit(ctypes.byref(value), number) == 0:
                found[name] = value.value
        return found


def _cuda_runtime() -> Any:
    """The CUDA runtime that torch has loaded; None where there is none, as with ROCm."""
    import torch

    torch.cuda.init()
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    path = next((line.split(maxsplit=5)[-1] for line in maps if "libcudart" in line), None)
    return ctypes.CDLL(path) if path else None


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
