"""Tensors of a captured call again: the values that were stored, or others of the same statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .archive import Capture, CaptureError

if TYPE_CHECKING:
    import torch

RECORDED_SEED = 0
"""The seed that gives what was recorded; with every other one the floating-point values are others."""
SPREAD = 0.1
"""With other seeds each stored floating-point element is scaled by a factor within one plus or minus this: signs,
zeros, infinities and the order of magnitude stay, as a triangular matrix, a gate or a mask needs them to."""


def restore(capture: Capture, call: dict[str, Any], which: str, seed: int, device: str) -> list[Any]:
    """The tensors of `call` on `device`: `before` it, `after` it, or its `results`. Views of one piece stay views.

    Raises CaptureError for values that were not kept at all.
    """
    import torch

    stored = capture.tensors(call["call"], which)
    generator = torch.Generator().manual_seed(seed)
    pieces: list[Any] = []
    for number, described in enumerate(call[f"pieces_{which}"]):
        if described["values"] == "stored":
            pieces.append(_stored(stored, number, described, seed, generator).to(device))
        elif which == "before":
            pieces.append(regenerate(described, generator).to(device))
        else:
            pieces.append(None)
    tensors = call["result_tensors"] if which == "results" else call["tensors"]
    return [None if pieces[t["piece"]] is None else _view(pieces[t["piece"]], t) for t in tensors]


def _stored(stored: dict[int, Any], number: int, described: dict[str, Any], seed: int, generator: Any) -> torch.Tensor:
    import torch

    flat = stored.get(number)
    if not isinstance(flat, torch.Tensor) or flat.dtype != torch.uint8 or flat.numel() != described["bytes"]:
        raise CaptureError(f"the values of piece {number} are missing or of another size")
    if seed == RECORDED_SEED or described["statistics"]["kind"] != "float":
        return flat.clone()
    kind = getattr(torch, described["dtype"])
    size = torch.empty(0, dtype=kind).element_size()
    typed = flat.clone()
    values = typed[: typed.numel() // size * size].view(kind)
    factor = 1 + SPREAD * (2 * torch.rand(values.numel(), generator=generator) - 1)
    values.copy_(values.float() * factor if kind != torch.float64 else values * factor.double())
    return typed


def regenerate(described: dict[str, Any], generator: Any) -> torch.Tensor:
    """Bytes of a piece made from its statistics; standard normal where its values were not real."""
    import torch

    figures, count = described["statistics"], described["bytes"]
    kind = getattr(torch, described["dtype"] or "uint8")
    size = torch.empty(0, dtype=kind).element_size()
    number = -(-count // size)
    uniform = torch.rand(number, generator=generator, dtype=torch.float64)
    if described["values"] == "assumed":
        made = torch.randn(number, generator=generator, dtype=torch.float64)
    elif figures["kind"] == "bool":
        made = (uniform < figures["true"]).double()
    elif figures["kind"] == "int":
        made = torch.floor(uniform * (figures["max"] - figures["min"] + 1)) + figures["min"]
        made = made.sort().values if figures["ascends"] else made
    else:
        made = torch.randn(number, generator=generator, dtype=torch.float64) * figures["std"] + figures["mean"]
        made = made.clamp(figures["min"], figures["max"])
        made = _sprinkle(made, uniform, figures)
    return made.to(kind).view(torch.uint8)[:count].clone()


def _sprinkle(made: torch.Tensor, uniform: torch.Tensor, figures: dict[str, Any]) -> torch.Tensor:
    """Zeros, infinities and NaN in the fractions in which they were seen."""
    start = 0.0
    for name, value in (
        ("zero", 0.0),
        ("negative_infinite", -float("inf")),
        ("positive_infinite", float("inf")),
        ("nan", float("nan")),
    ):
        end = start + figures[name]
        made = made.masked_fill((uniform >= start) & (uniform < end), value)
        start = end
    return made


def _view(piece: torch.Tensor, described: dict[str, Any]) -> torch.Tensor:
    import torch

    kind = getattr(torch, described["dtype"])
    return torch.empty(0, dtype=kind, device=piece.device).set_(
        piece.untyped_storage(), described["offset"], described["shape"], described["stride"]
    )
