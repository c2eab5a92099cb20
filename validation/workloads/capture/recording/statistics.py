"""What is known of values that are not stored: enough to make others like them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def statistics(values: torch.Tensor) -> dict[str, Any]:
    """Figures of a flat tensor. Floating point: mean, std, min and max of the finite elements, and the fractions of
    NaN, infinities and zeros. Integers: min, max, and whether they ascend. Booleans: the fraction of True."""
    import torch

    count = values.numel()
    if not count:
        return {"kind": "empty"}
    if values.dtype == torch.bool:
        return {"kind": "bool", "true": float(values.double().mean())}
    if values.is_complex():
        values = torch.view_as_real(values).reshape(-1)
    if not values.is_floating_point():
        wide = values.long()
        ascends = bool((wide[1:] >= wide[:-1]).all())
        return {"kind": "int", "min": int(wide.min()), "max": int(wide.max()), "ascends": ascends}
    wide = values.double()
    finite = wide[torch.isfinite(wide)]
    figures = {"mean": 0.0, "std": 0.0, "min": 0.0, "max": 0.0}
    if finite.numel():
        figures = {
            "mean": float(finite.mean()),
            "std": float(finite.std(correction=0)),
            "min": float(finite.min()),
            "max": float(finite.max()),
        }
    fractions = {
        "nan": float(torch.isnan(wide).double().mean()),
        "positive_infinite": float(torch.isposinf(wide).double().mean()),
        "negative_infinite": float(torch.isneginf(wide).double().mean()),
        "zero": float((wide == 0).double().mean()),
    }
    return {"kind": "float", **figures, **fractions}
