"""Waits until the user's process imports triton, then begins to record."""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any


def start(folder: str, choice: str, stub_folder: str) -> None:
    """Records into `folder`; `stub_folder` holds the driver that stands in where there is no GPU."""
    sys.meta_path.insert(0, _Waiting(lambda: _begin(Path(folder), choice, Path(stub_folder))))


class _Waiting(importlib.abc.MetaPathFinder):
    """Finds nothing itself; runs `then` once, after triton was imported."""

    def __init__(self, then: Any) -> None:
        self._then = then

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if name != "triton":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Then(spec.loader, self._then)
        return spec


class _Then(importlib.abc.Loader):
    """Loads as `loader` does, then runs `then`."""

    def __init__(self, loader: Any, then: Any) -> None:
        self._loader, self._then = loader, then

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._then()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _begin(folder: Path, choice: str, stub_folder: Path) -> None:
    import torch
    import triton

    from .calls import Calls
    from .launches import Launches
    from .writing import Writer

    writer = Writer(folder, choice)
    gpu = torch.cuda.is_available()
    mode = "interpreter" if os.environ.get("TRITON_INTERPRET") == "1" else "gpu" if gpu else "compile"
    if mode == "compile":
        # Unwritten memory is NaN, so that what is computed from it can be told from what is real.
        torch.use_deterministic_algorithms(True, warn_only=True)
    record = {
        "process": os.getpid(),
        "mode": mode,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "python": platform.python_version(),
        "device": torch.cuda.get_device_name(0) if gpu else "cpu",
    }
    writer.write("process", record)
    calls = Calls(writer)
    calls.executed = mode != "compile"
    Launches(writer, calls, mode, nullcontext if gpu else _stub(stub_folder)).install()
    calls.watch()


def _stub(folder: Path) -> Any:
    """A context in which the stub driver is active: only while something is launched, since packages ask for a driver
    to find out whether there is a GPU. Its folder is loaded by path, as skel may not be importable here."""
    spec = importlib.util.spec_from_file_location(
        "skel_stub", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["skel_stub"] = package
    spec.loader.exec_module(package)
    stub = importlib.import_module("skel_stub.stub_driver").StubDriver("sm_90")

    @contextmanager
    def standing_in() -> Iterator[None]:
        from triton.runtime import driver

        before, driver._active = driver._active, stub
        try:
            yield
        finally:
            driver._active = before

    return standing_in
