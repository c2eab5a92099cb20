"""What the launches of a run leave in the tensors they are given, whether `run` hands those back or not.

A result that `run` drops, overwrites or computes again would hide a wrong kernel: here every tensor argument of every
launch is looked at before and after it, by kernel, parameter and number of its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import trees
from .compare.poison import poisoned
from .redzones import Arena

if TYPE_CHECKING:
    import torch

Key = tuple[str, str, int]
"""Kernel, parameter, and which of the memories that this parameter was given, counted from 0."""


@dataclass(slots=True)
class _Held:
    """One memory as one parameter of one kernel sees it."""

    memory: torch.Tensor
    """All its bytes, flat."""
    dtype: torch.dtype
    state: torch.Tensor | None = None
    """Its bytes after the last launch that was given it; None where they could not be kept."""
    written: bool = False
    launches: int = 0


@dataclass(frozen=True, slots=True)
class Substitution:
    """Values to be put in place of what launch number `launch` (from 1) with the memory `key` left there."""

    key: Key
    launch: int
    change: Callable[[torch.Tensor], torch.Tensor]
    """From the values that are there, flat, in the argument's dtype."""


class Watch:
    """Looks at the launches of one run. `undo` takes back whatever they write; `substitute` replaces one result."""

    def __init__(self, *, undo: bool = False, substitute: Substitution | None = None) -> None:
        self._undo = undo
        self._substitute = substitute
        self._held: dict[Key, _Held] = {}
        self._arena: Arena | None = None
        self.saved: dict[str, Any] = {}
        """After the run: `entries`, one a memory, and the `values` that are neither an output nor an input."""
        self.from_kernels: list[str] = []
        """After the run: outputs and inputs that hold what a launch wrote, as it left them."""
        self.written_inputs: list[str] = []
        """After the run: inputs that a launch wrote into, whatever they hold now."""

    def begin(self, arena: Arena) -> None:
        """The run is about to start; its memory lies in `arena`."""
        self._arena = arena

    def launch(self, kernel: str, arguments: dict[str, Any]) -> Callable[[], None]:
        """A launch is about to be made; to be called again when it is done. While a graph is captured, nothing may be
        looked at."""
        import torch
        from torch.utils._python_dispatch import _disable_current_modes

        if self._arena is None or (torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()):
            return lambda: None
        with _disable_current_modes(), torch.no_grad():
            before = [(key, held, _copy(held.memory)) for key, held in self._found(kernel, arguments)]

        def after() -> None:
            with _disable_current_modes(), torch.no_grad():
                for key, held, was in before:
                    self._look(key, held, was)

        return after

    def _found(self, kernel: str, arguments: dict[str, Any]) -> Iterator[tuple[Key, _Held]]:
        seen: set[int] = set()
        for parameter, tensor in _tensors(arguments):
            memory = _memory(tensor, self._arena)
            same = [key for key in self._held if key[:2] == (kernel, parameter)]
            known = next((k for k in same if self._held[k].memory.data_ptr() == memory.data_ptr()), None)
            key = known or (kernel, parameter, len(same))
            held = self._held.setdefault(key, _Held(memory, tensor.dtype))
            held.launches += 1
            if memory.data_ptr() not in seen or not self._undo:
                yield key, held
            seen.add(memory.data_ptr())

    def _look(self, key: Key, held: _Held, was: torch.Tensor | None) -> None:
        import torch

        changed = was is None or not torch.equal(held.memory, was)
        held.written |= changed
        if self._undo:
            if changed and was is not None:
                held.memory.copy_(_harmless(was, held.dtype))
            return
        chosen = self._substitute
        if chosen is not None:
            if (chosen.key, chosen.launch) == (key, held.launches):
                typed = _typed(held.memory, held.dtype)
                typed.copy_(chosen.change(typed))
            return
        held.state = (_copy(held.memory) if changed else was) if was is not None else None

    def end(self, result: Any, inputs: Any) -> None:
        """The run is over: `result` is what it returned, `inputs` the guarded inputs."""
        import torch

        leaves = {f"output {name}": leaf for name, leaf in trees.flatten(result).items()}
        leaves |= {f"input {name}": leaf for name, leaf in trees.flatten(inputs, alone="input").items()}
        places = {name: leaf for name, leaf in leaves.items() if _plain(leaf) and leaf.numel()}
        entries: list[dict[str, Any]] = []
        values: dict[str, Any] = {}
        for (kernel, parameter, number), held in self._held.items():
            pointer = held.memory.untyped_storage().data_ptr()
            names = [name for name, leaf in places.items() if leaf.untyped_storage().data_ptr() == pointer]
            if held.written:
                inputs_here = [name.removeprefix("input ") for name in names if name.startswith("input ")]
                self.written_inputs += [name for name in inputs_here if name not in self.written_inputs]
            kept = held.state is not None and torch.equal(held.state, held.memory)
            if held.written and kept:
                self.from_kernels += [name for name in names if name not in self.from_kernels]
            if not held.written and any(name.startswith("input ") for name in names):
                continue  # an input that is only read: whoever changes it is told so anyway
            whole = [name for name in names if kept and _is_whole(places[name], held)]
            value = whole[0] if whole else str(len(entries))
            entry = {"kernel": kernel, "parameter": parameter, "number": number, "written": held.written}
            entries.append(entry | {"launches": held.launches, "value": value})
            if not whole and held.state is not None:
                values[value] = _typed(held.state, held.dtype).cpu()
        self.saved = {"entries": entries, "values": values}
        self._held.clear()


def _tensors(arguments: dict[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensor arguments by parameter: also those in tuples, and the tensor that a descriptor describes."""
    for name, value in arguments.items():
        for inner, leaf in trees.flatten(value, name, name).items():
            tensor: Any = leaf if _plain(leaf) else getattr(leaf, "base", None)
            if _plain(tensor) and tensor.numel():
                yield inner, tensor


def _plain(leaf: Any) -> bool:
    import torch

    return isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided and leaf.device.type != "meta"


def _memory(tensor: torch.Tensor, arena: Arena | None) -> torch.Tensor:
    """All bytes that a kernel may reach through the tensor, without the guard zones, flat."""
    import torch

    if arena is not None and (data := arena.data_of(tensor)) is not None:
        return data
    storage = tensor.untyped_storage()
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage, 0, (storage.nbytes(),), (1,))


def _copy(memory: torch.Tensor) -> torch.Tensor | None:
    """None where there is no room for a copy."""
    import torch

    try:
        return memory.clone()
    except torch.OutOfMemoryError:
        return None


def _typed(memory: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return memory.view(dtype) if memory.numel() % dtype.itemsize == 0 else memory


def _harmless(was: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """What was there, without poison, which would show through `y * 0`: another number. Integers become zero, as a
    wild index would end the process and say nothing."""
    import torch

    if not dtype.is_floating_point or was.numel() % dtype.itemsize:
        return was.new_zeros(was.shape)
    values = was.clone().view(dtype)
    return torch.where(poisoned(values), torch.full_like(values, 0.75), values).view(torch.uint8)


def _is_whole(leaf: torch.Tensor, held: _Held) -> bool:
    """True where the tensor is that memory, all of it, as the kernel sees it."""
    size = leaf.numel() * leaf.element_size()
    return bool(leaf.is_contiguous() and leaf.dtype == held.dtype and size == held.memory.numel())
