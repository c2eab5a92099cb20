"""Settings that hold for the whole process: a target that leaves them changed changes what everybody else computes."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Any

_SIGNALS = ("SIGINT", "SIGTERM", "SIGALRM")


class Settings:
    """What they were when this was made."""

    def __init__(self) -> None:
        self._before = _read()

    def changed(self) -> list[dict[str, str]]:
        """Those that are others now: name, before, after."""
        now = _read()
        return [
            {"name": name, "before": before, "after": now[name]}
            for name, before in self._before.items()
            if now[name] != before
        ]


def _read() -> dict[str, str]:
    """Every setting in words, by a name that a user knows."""
    import numpy
    import torch
    from torch import _tensor_str

    matmul: Any = torch.backends.cuda.matmul
    found: dict[str, Any] = {
        "torch.get_default_dtype()": torch.get_default_dtype(),
        "torch.is_grad_enabled()": torch.is_grad_enabled(),
        "torch.is_inference_mode_enabled()": torch.is_inference_mode_enabled(),
        "torch.get_num_threads()": torch.get_num_threads(),
        "torch.are_deterministic_algorithms_enabled()": torch.are_deterministic_algorithms_enabled(),
        "torch.utils.deterministic.fill_uninitialized_memory": torch.utils.deterministic.fill_uninitialized_memory,
        "torch.get_float32_matmul_precision()": torch.get_float32_matmul_precision(),
        "sums of fp16 products, torch.backends.cuda.matmul": matmul.allow_fp16_reduced_precision_reduction,
        "sums of bf16 products, torch.backends.cuda.matmul": matmul.allow_bf16_reduced_precision_reduction,
        "torch.backends.cudnn.benchmark": torch.backends.cudnn.benchmark,
        "torch.backends.cudnn.deterministic": torch.backends.cudnn.deterministic,
        "torch.is_autocast_enabled()": torch.is_autocast_enabled(),
        "torch.set_flush_denormal": _flushes_denormals(),
        "torch.set_printoptions": vars(_tensor_str.PRINT_OPTS),
        "the modes that torch functions run under": torch._C._len_torch_function_stack(),
        "the modes that torch operators run under": torch._C._len_torch_dispatch_stack(),
        "operators of PyTorch that Python replaces": _replaced_operators(),
        "numpy.geterr()": numpy.geterr(),
        "gc.isenabled()": gc.isenabled(),
        "gc.callbacks": len(gc.callbacks),
        "sys.gettrace()": sys.gettrace(),
        "sys.getprofile()": sys.getprofile(),
        "the working folder": _working_folder(),
        "signal.getitimer(ITIMER_REAL)": signal.getitimer(signal.ITIMER_REAL)[1],
    }
    found |= {f"the handler of {name}": signal.getsignal(getattr(signal, name)) for name in _SIGNALS}
    return {name: str(value) for name, value in found.items()}


def _flushes_denormals() -> bool:
    """True where arithmetic takes the smallest numbers for zero."""
    import torch

    return not bool(torch.tensor([1e-39], dtype=torch.float32).mul(1.0).double().item())


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "gone"


def _replaced_operators() -> list[str]:
    """PyTorch's own operators that have an implementation in Python, but for those of the device without memory, which
    PyTorch registers itself when it first needs them."""
    import torch

    keys: Any = torch.library._impls
    return sorted(key for key in keys if key.startswith("aten/") and not key.endswith("/Meta"))
