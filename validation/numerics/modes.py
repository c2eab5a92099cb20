"""Modes of PyTorch that stand between a call and what it does. One that a target leaves on would see, and could change,
all that is done with its results."""

from __future__ import annotations


def depths() -> tuple[int, int]:
    """How many modes functions and operators run under."""
    import torch

    return torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack()


def strip(before: tuple[int, int]) -> int:
    """Takes off those that came on since; how many there were."""
    from torch.overrides import _pop_mode
    from torch.utils._python_dispatch import _pop_mode as pop_operators

    functions, operators = depths()
    for _ in range(functions - before[0]):
        _pop_mode()
    for _ in range(operators - before[1]):
        pop_operators()
    return max(0, functions - before[0]) + max(0, operators - before[1])
