"""Records the launches of a run: kernel, arguments, grid, options, and what its tensors held when they were passed.

Recorded launches are what is timed; `run` with its allocations is not. What `run` does besides is counted, so that work
moved out of the kernels and into the host cannot pass for a gain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

_ALLOCATING = frozenset(
    {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "_local_scalar_dense"}
)


@dataclass(slots=True)
class Launch:
    """One launch, ready to be repeated on other tensors or with other options."""

    function: Any
    arguments: tuple[Any, ...]
    grid: Any
    options: dict[str, Any]
    compiled: Any = None

    @property
    def kernel(self) -> str:
        return str(self.function.fn.__name__)

    @property
    def file(self) -> str:
        return str(self.function.fn.__code__.co_filename)

    def tensors(self) -> Iterator[torch.Tensor]:
        """Every tensor among the arguments, in order."""
        found: list[torch.Tensor] = []

        def collect(tensor: torch.Tensor) -> torch.Tensor:
            found.append(tensor)
            return tensor

        change_tensors((self.arguments, self.options), collect)
        return iter(found)

    def on(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Launch:
        """The same launch with every tensor replaced."""
        arguments, options = change_tensors((self.arguments, self.options), change)
        return Launch(self.function, arguments, self.grid, options, self.compiled)

    def __call__(self) -> Any:
        """Launches. The compiled kernel, where there is one."""
        self.compiled = self.function.run(*self.arguments, grid=self.grid, warmup=False, **self.options)
        return self.compiled


@dataclass(slots=True)
class Recording:
    """What one run did: its launches in order, first contents of their memory, operations besides the launches."""

    launches: list[Launch] = field(default_factory=list)
    contents: dict[int, Any] = field(default_factory=dict)
    """By address of a storage: a flat copy of its bytes as they were at its first launch."""
    operations: Counter[str] = field(default_factory=Counter)


def change_tensors(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """`value` with every tensor in it replaced: in tuples, lists, dicts and descriptors that hold a `base`."""
    import torch

    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: change_tensors(one, change) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        changed = [change_tensors(one, change) for one in value]
        if isinstance(value, list):
            return changed
        return type(value)(*changed) if hasattr(value, "_fields") else tuple(changed)
    if is_dataclass(value) and not isinstance(value, type) and isinstance(getattr(value, "base", None), torch.Tensor):
        described: Any = value
        return replace(described, base=change(described.base))
    return value


def flat_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """All bytes of the storage that the tensor lies in, not copied."""
    import torch

    storage = tensor.untyped_storage()
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage, 0, (storage.nbytes(),), (1,))


@contextmanager
def recording(
    options: Mapping[str, Any] | None = None, kernels: Sequence[str] | None = None
) -> Iterator[Recording]:
    """Within: every launch of a Triton kernel, compiled or interpreted, is recorded and made.

    Launches of `kernels` (all where None) are made with `options` instead of their own.
    """
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    made, changed = Recording(), dict(options or {})
    kinds: tuple[Any, ...] = (JITFunction, InterpretedFunction)
    before = [kind.run for kind in kinds]
    depth = [0]

    def recorder(run: Any) -> Any:
        def wrapper(self: Any, *args: Any, grid: Any, warmup: bool = False, **own: Any) -> Any:
            if warmup or depth[0]:
                return run(self, *args, grid=grid, warmup=warmup, **own)
            if changed and (kernels is None or self.fn.__name__ in kernels):
                own |= changed
            launch = Launch(self, args, grid, own)
            depth[0] += 1
            try:
                for tensor in launch.tensors():
                    address = tensor.untyped_storage().data_ptr()
                    if address not in made.contents:
                        made.contents[address] = flat_bytes(tensor).clone()
                launch.compiled = run(self, *args, grid=grid, warmup=False, **own)
            finally:
                depth[0] -= 1
            made.launches.append(launch)
            return launch.compiled

        return wrapper

    for kind, run in zip(kinds, before, strict=True):
        kind.run = recorder(run)
    try:
        with _counting(made.operations, depth):
            yield made
    finally:
        for kind, run in zip(kinds, before, strict=True):
            kind.run = run


def _counting(operations: Counter[str], depth: list[int]) -> TorchDispatchMode:
    """Counts what is computed outside launches; allocations and views are nothing that takes time on the device."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Counting(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            name = str(func.overloadpacket.__name__)
            if depth[0] or name in _ALLOCATING:
                return result
            given = {_memory(leaf) for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)}
            made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.numel()]
            if func._schema.is_mutable or any(_memory(leaf) not in given for leaf in made):
                operations[name] += 1
            return result

    return Counting()


def _memory(tensor: torch.Tensor) -> int:
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):
        return id(tensor)
