"""Calls of public operators at realistic shapes: what real programs ask of the kernels that are ablated."""

from __future__ import annotations

import importlib

from .base import Case, Inputs

_FILES = (
    "fla_chunked",
    "sglang_linear",
    "sglang_attention",
    "sglang_gemm",
    "fla_attention",
    "fla_recurrent",
    "sglang_norms",
    "fla_modules",
)
"""Those that take longest to compile come first."""


def _all() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for file in _FILES:
        for case in importlib.import_module(f".{file}", __name__).CASES:
            found[case.name] = case
    return found


CASES = _all()
"""By name."""

__all__ = ["CASES", "Case", "Inputs"]
