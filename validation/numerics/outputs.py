"""Compares the named outputs of one run with those of another, by class and dtype. Pure: tensors in, facts out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..protocol import Correctness
from .compare.close import close_difference, tolerance
from .compare.exact import exact_difference
from .compare.form import dtype_difference, shape_difference
from .compare.nonfinite import nonfinite_difference
from .compare.poison import unwritten

Fact = dict[str, Any]
"""One thing that is wrong: `code`, the `fields` of its message, `data`."""


def fact(code: str, severity: str = "error", **fields: Any) -> Fact:
    return {"code": code, "fields": fields, "data": {}, "severity": severity}


def compare_form(candidate: Mapping[str, Any], original: Mapping[str, Any]) -> list[Fact]:
    """Names, kinds, shapes and dtypes of all outputs."""
    import torch

    if set(candidate) != set(original):
        return [fact("outputs_differ", candidate=sorted(candidate), reference=sorted(original))]
    found: list[Fact] = []
    for name, expected in original.items():
        got = candidate[name]
        if isinstance(expected, torch.Tensor) != isinstance(got, torch.Tensor):
            found.append(
                fact(
                    "outputs_differ",
                    candidate=f"{name}: {type(got).__name__}",
                    reference=f"{name}: {type(expected).__name__}",
                )
            )
        elif not isinstance(expected, torch.Tensor):
            if got != expected and not (got != got and expected != expected):
                found.append(
                    fact("values_differ", output=name, count=1, total=1, index="[]", candidate=got, reference=expected)
                )
        elif difference := shape_difference(got, expected):
            found.append(fact("shape_differs", output=name, **difference))
        elif difference := dtype_difference(got, expected):
            found.append(fact("dtype_differs", output=name, **difference))
    return found


def compare_values(
    name: str, candidate: Any, expected: Any, *, exact: bool, reordered: bool, numbers: Correctness
) -> Fact | None:
    """Values of one output of equal form. `exact` asks for equality to the bit; `reordered` loosens float32."""
    if missing := unwritten(candidate, expected):
        return fact("uninitialised_read", output=name, **missing)
    if difference := nonfinite_difference(candidate, expected):
        return fact("nonfinite_differs", output=name, **difference)
    rtol = tolerance(str(candidate.dtype).removeprefix("torch."), reordered, numbers)
    difference = (
        exact_difference(candidate, expected) if exact or not rtol else close_difference(candidate, expected, rtol)
    )
    return fact("values_differ", output=name, **difference) if difference else None


def compare_with_reference(name: str, output: Any, reference: Any, numbers: Correctness) -> Fact | None:
    """One output against its float64 reference, at the tolerance of the output's own dtype with sums reordered."""
    if tuple(output.shape) != tuple(reference.shape):
        return fact(
            "shape_differs", output=name, candidate=str(list(output.shape)), reference=str(list(reference.shape))
        )
    if difference := nonfinite_difference(output, reference):
        return fact("nonfinite_differs", output=name, **difference)
    rtol = tolerance(str(output.dtype).removeprefix("torch."), True, numbers)
    difference = close_difference(output, reference.double(), rtol)
    return fact("values_differ", output=name, **difference) if difference else None
