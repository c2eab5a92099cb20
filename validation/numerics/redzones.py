"""Redzones: every tensor a kernel can see stands between two zones of known finite values, looked at afterwards.

An access out of bounds often ends nothing and returns right answers; the zones show it. Fresh memory is filled with a
poison that no arithmetic gives, so that what was never written shows as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .trees import flatten, map_tensors

if TYPE_CHECKING:
    import torch

POISON_FLOAT = 0xFF
"""Byte that fills fresh floating-point memory: a NaN in every dtype, with a payload that arithmetic does not give."""
POISON_INT = 0x7B
"""Byte that fills fresh integer memory: a large positive number."""


@dataclass(slots=True)
class _Guarded:
    name: str
    base: torch.Tensor
    """The flat bytes: zone, data, zone."""
    size: int
    """Bytes of data between the zones."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Where the data of one memory lies: its storage's address, and the addresses from `low` up to `high`."""

    storage: int
    low: int
    high: int


class Arena:
    """The guarded memory of one run. `fill` is the byte in the zones, `zone` their size in bytes."""

    def __init__(self, zone: int, fill: int) -> None:
        self._zone = zone
        self._fill = fill
        self._held: list[_Guarded] = []
        self._known: set[int] = set()

    def knows(self, tensor: torch.Tensor) -> bool:
        """True where the tensor already lies in guarded memory."""
        return tensor.untyped_storage().data_ptr() in self._known

    def data_of(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The flat bytes between the zones that the tensor lies between; None for memory that is not guarded."""
        pointer = tensor.untyped_storage().data_ptr()
        held = next((one for one in self._held if one.base.untyped_storage().data_ptr() == pointer), None)
        return held.base[self._zone : self._zone + held.size] if held is not None else None

    def storage(self, name: str, size: int, device: Any) -> torch.Tensor:
        """Flat guarded bytes for `size` bytes of data; the zones are filled, the data is not."""
        import torch

        base = torch.empty(size + 2 * self._zone, dtype=torch.uint8, device=device)
        base[: self._zone].fill_(self._fill)
        base[self._zone + size :].fill_(self._fill)
        self._held.append(_Guarded(name, base, size))
        self._known.add(base.untyped_storage().data_ptr())
        return base

    def move(self, tree: Any, device: str) -> Any:
        """A copy of `tree` whose tensors lie in guarded memory on `device`: strides kept, views of one storage still
        views of one."""
        import torch

        bases: dict[int, torch.Tensor] = {}
        names = {
            id(leaf): name for name, leaf in flatten(tree, alone="input").items() if isinstance(leaf, torch.Tensor)
        }

        def place(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.numel() == 0:
                return tensor.to(device)
            storage = tensor.untyped_storage()
            base = bases.get(storage.data_ptr())
            if base is None:
                base = self.storage(f"input {names[id(tensor)]}", storage.nbytes(), device)
                flat = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(
                    storage, 0, (storage.nbytes(),), (1,)
                )
                base[self._zone : self._zone + storage.nbytes()].copy_(flat)
                bases[storage.data_ptr()] = base
            moved = self.view(base, tensor, tensor.storage_offset())
            return moved.requires_grad_(tensor.requires_grad)

        return map_tensors(place, tree)

    def adopt(self, tensor: torch.Tensor, name: str, poison: bool) -> torch.Tensor:
        """`tensor` in guarded memory of its own, same strides: its values, or poison where it was never written."""
        import torch

        extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
        size = extent * tensor.element_size()
        base = self.storage(name, size, tensor.device)
        view = self.view(base, tensor, 0)
        data = base[self._zone : self._zone + size]
        if not poison:
            view.copy_(tensor)
        elif tensor.dtype == torch.bool:
            data.fill_(1)
        else:
            data.fill_(POISON_FLOAT if tensor.is_floating_point() or tensor.is_complex() else POISON_INT)
        return view

    def view(self, base: torch.Tensor, like: torch.Tensor, offset: int) -> torch.Tensor:
        """A view of the data in `base` with the dtype, sizes and strides of `like`, `offset` elements in."""
        import torch

        start = self._zone // like.element_size() + offset
        return torch.empty(0, dtype=like.dtype, device=base.device).set_(
            base.untyped_storage(), start, like.shape, like.stride()
        )

    def holds(self, low: int, high: int) -> bool:
        """True where the addresses from `low` up to `high` lie in the data of one tensor."""
        return any(start <= low and high <= start + held.size for held, start in self._starts())

    def zone_at(self, low: int, high: int) -> tuple[str, str, int] | None:
        """The guard zone that the addresses touch: tensor, side, and how many bytes past its data; else None."""
        for held, start in self._starts():
            end = start + held.size
            if start - self._zone <= low < start:
                return held.name, "before", start - low
            if low < end + self._zone and high > end and low >= start:
                return held.name, "after", high - end
        return None

    def extents(self) -> list[Extent]:
        """Where the data of every memory lies."""
        return [
            Extent(held.base.untyped_storage().data_ptr(), start, start + held.size) for held, start in self._starts()
        ]

    def _starts(self) -> list[tuple[_Guarded, int]]:
        return [(held, held.base.data_ptr() + self._zone) for held in self._held]

    def broken(self) -> list[dict[str, Any]]:
        """Zones that no longer hold what they held: tensor, side, how many bytes, how far from the tensor."""
        found = []
        for held in self._held:
            for side, zone in (
                ("before", held.base[: self._zone].flip(0)),
                ("after", held.base[self._zone + held.size :]),
            ):
                wrong = (zone != self._fill).nonzero()
                if len(wrong):
                    found.append(
                        {"tensor": held.name, "side": side, "bytes": len(wrong), "first_byte_away": int(wrong[0, 0])}
                    )
        return found
