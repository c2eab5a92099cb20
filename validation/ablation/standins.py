"""Imports of what a bundle does not hold: a serving engine's own modules, libraries of other platforms.

Kernels' files import much that their Triton kernels never reach. What is missing is stood in for by empty modules; the
few answers that decide what runs (which platform this is) are the true ones for an NVIDIA GPU. Nothing that a kernel
computes is ever stood in for: a Triton function that is missing fails where it is used.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

ROOTS = ("sglang", "sgl_kernel", "tvm_ffi", "msgspec", "torchvision", "flashinfer", "deep_gemm", "aiter", "helion")
"""Top-level packages that may be stood in for, where they are not installed."""


class Absent:
    """Stands for anything of an absent module: falsy, takes any call, attribute and base class."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """Takes anything."""

    def __call__(self, *args: Any, **_: Any) -> Any:
        # As a decorator it leaves the function alone.
        return args[0] if len(args) == 1 and callable(args[0]) else Absent()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent()

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Absent:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was entered."""

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()


def _decorator(function: Any = None, **_: Any) -> Any:
    return function if function is not None else lambda real: real


def _true(*_: Any, **__: Any) -> bool:
    return True


def _false(*_: Any, **__: Any) -> bool:
    return False


def _multiprocessors(*_: Any, **__: Any) -> int:
    import torch

    return int(torch.cuda.get_device_properties(0).multi_processor_count) if torch.cuda.is_available() else 132


def _device_name(*_: Any, **__: Any) -> str:
    import torch

    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else "cpu"


def _torch_release() -> tuple[int, ...]:
    import torch

    return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:3] if part.isdigit())


def _architecture(*_: Any, **__: Any) -> SimpleNamespace:
    import torch

    major, minor = torch.cuda.get_device_capability() if torch.cuda.is_available() else (9, 0)
    return SimpleNamespace(major=major, minor=minor)


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)


def _next_power_of_2(value: int) -> int:
    return 1 << max(0, value - 1).bit_length()


ANSWERS: dict[str, Any] = {
    "is_cuda": _true,
    "is_sm90_supported": _true,
    "is_cuda_alike": _true,
    "is_arch_support_pdl": _false,
    "register_custom_op": _decorator,
    "direct_register_custom_op": _false,
    "debug_kernel_api": _decorator,
    "get_device_core_count": _multiprocessors,
    "get_device_name": _device_name,
    "ceil_div": _cdiv,
    "cdiv": _cdiv,
    "next_power_of_2": _next_power_of_2,
    "get_jit_cuda_arch": _architecture,
}
"""By name in whatever absent module it is looked for. Names that begin with `is_` and are not here answer no."""


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "torch_release":
            return _torch_release()
        return ANSWERS.get(name, _false if name.startswith(("is_", "use_", "has_", "should_", "can_")) else Absent())


class Standins(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of a bundle's packages in its folder, without their `__init__`; all else is absent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] not in ROOTS:
            return None
        place = self._folder.joinpath(*fullname.split("."))
        if place.with_suffix(".py").is_file():
            return importlib.util.spec_from_file_location(fullname, place.with_suffix(".py"))
        spec = importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        if place.is_dir():
            spec.submodule_search_locations = [str(place)]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def install(folder: Path) -> None:
    """Makes the bundle's packages importable from `folder`. Installed packages of other names come first."""
    sys.path.insert(0, str(folder))
    sys.meta_path.insert(0, Standins(folder))
