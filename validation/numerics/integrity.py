"""Whether a target left alone what judges it: library functions, timers, and this package's own."""

from __future__ import annotations

import builtins
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
    *("triton.runtime.cache", "triton.compiler.compiler", "triton.language"),
    *("torch.overrides", "torch.serialization", "torch.utils._pytree", "torch.utils._python_dispatch"),
    *("os", "json", "json.encoder", "pathlib", "inspect", "linecache", "threading", "_thread"),
)
"""Modules whose functions and classes must stay what they are; all loaded ones of this package with them."""
CLASSES = ("torch.Tensor", "torch.cuda.Event", "torch.cuda.Stream", "torch.cuda.CUDAGraph")
"""Classes whose methods must; nor may one be added, as it would stand in front of an inherited one."""

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
        self._before = _everything()
        self._owners = {name.rpartition(".")[0] for name in self._before}

    def changed(self) -> list[str]:
        """Names that are another object now, hold other code, or are gone; and those that came to be where none may."""
        now = _everything()
        found = {name for name, held in self._before.items() if not _same(now.get(name), held)}
        added = {name for name in now.keys() - self._before.keys() if name.rpartition(".")[0] in self._owners}
        found |= {name for name in added if _may_not_be_added(name)}
        return sorted(found) + _of_interpreter() + switched_off()

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


def _everything() -> dict[str, tuple[Any, ...]]:
    return {name: _held(value) for place in _places() for name, value in _members(place)}


def _held(value: Any) -> tuple[Any, ...]:
    """A value and, of a function of Python, what can be replaced inside it."""
    function = getattr(value, "__func__", value)
    return value, *(getattr(function, name, None) for name in ("__code__", "__defaults__", "__kwdefaults__"))


def _same(now: tuple[Any, ...] | None, before: tuple[Any, ...]) -> bool:
    return now is not None and all(a is b for a, b in zip(now, before, strict=True))


def _may_not_be_added(name: str) -> bool:
    """True for a method of a watched class, a name that hides a built-in one, and any in a module of ours."""
    owner, _, last = name.rpartition(".")
    return owner in CLASSES or owner.startswith("skel.") or (owner != "builtins" and last in vars(builtins))


def _of_interpreter() -> list[str]:
    """What stands on Triton's interpreter itself, in front of the methods of its class."""
    from triton.runtime.interpreter import interpreter_builder

    builder: Any = interpreter_builder
    found = []
    for name, value in vars(builder).items():
        meant = getattr(type(builder), name, None)
        if meant is not None and callable(value) and getattr(value, "__func__", value) is not meant:
            found.append(f"triton.runtime.interpreter.interpreter_builder.{name}")
    return sorted(found)


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


def _members(place: Any) -> list[tuple[str, Any]]:
    """Functions and classes of a module, with the methods of its own classes, of ours its constants too; of a class its
    methods."""
    prefix = place.__name__ if isinstance(place, ModuleType) else f"{place.__module__}.{place.__qualname__}"
    found = []
    for name, value in list(vars(place).items()):
        constant = name.isupper() and prefix.startswith("skel.")
        if callable(value) or constant or isinstance(value, (staticmethod, classmethod)):
            found.append((f"{prefix}.{name}", value))
        if isinstance(value, type) and value.__module__ == prefix:
            found += [(f"{prefix}.{name}.{key}", one) for key, one in list(vars(value).items()) if callable(one)]
    return found
