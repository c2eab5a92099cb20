"""A stand-in for Triton's driver, so that kernels specialise and compile for a named target without that GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .targets import target_of


class StubDriver:
    """Answers what the JIT and the autotuner ask of a driver. Nothing can be launched with it."""

    def __init__(self, name: str) -> None:
        from triton.backends.compiler import GPUTarget

        target = target_of(name)
        self._target = GPUTarget(target.backend, target.architecture, target.warp_size)
        major, minor = divmod(target.architecture, 10) if isinstance(target.architecture, int) else (9, 4)
        self.get_device_capability = lambda device=0: (major, minor)

    def get_current_target(self) -> Any:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        """There is only device 0."""

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        import torch

        return torch.cpu

    def get_benchmarker(self) -> Callable[..., Sequence[float]]:
        """Every configuration takes equally long, so the first one is chosen; none is run."""
        return lambda kernel_call, quantiles=(0.5,), **_: [1.0] * len(quantiles)


def install(target: str) -> None:
    """Makes the stub the active driver of this process."""
    import triton

    driver: Any = StubDriver(target)
    triton.runtime.driver.set_active(driver)
