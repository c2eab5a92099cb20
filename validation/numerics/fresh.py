"""Puts every tensor that is allocated while a target runs into guarded memory, and poisons what is left unwritten.

`run` allocates its own outputs and scratch, so they are caught where they come to be: at the dispatcher, whatever
function of PyTorch made them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .redzones import Arena

if TYPE_CHECKING:
    from torch.utils._python_dispatch import TorchDispatchMode

_UNWRITTEN = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")


def fresh_memory(arena: Arena) -> TorchDispatchMode:
    """A context in which every newly allocated tensor lies in `arena`."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_flatten, tree_unflatten

    class FreshMemory(TorchDispatchMode):  # type: ignore[misc]
        """Counts allocations to name them: `torch.zeros_like number 3`."""

        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            leaves, spec = tree_flatten(result)
            if not any(isinstance(leaf, torch.Tensor) for leaf in leaves):
                return result
            given = {id(leaf) for leaf in tree_flatten((args, kwargs))[0]}
            memory = {leaf.untyped_storage().data_ptr() for leaf in tree_flatten((args, kwargs))[0] if _plain(leaf)}
            name = str(func.overloadpacket.__name__)
            changed = False
            for number, leaf in enumerate(leaves):
                if id(leaf) in given or not _plain(leaf) or not leaf.numel():
                    continue
                if leaf.untyped_storage().data_ptr() in memory or arena.knows(leaf):
                    continue
                self.count += 1
                leaves[number] = arena.adopt(leaf, f"the tensor of {name} number {self.count}", name in _UNWRITTEN)
                changed = True
            return tree_unflatten(leaves, spec) if changed else result

    return FreshMemory()


def _plain(leaf: Any) -> bool:
    """A strided tensor with memory of its own."""
    import torch

    if type(leaf) not in (torch.Tensor, torch.nn.Parameter):
        return False
    return bool(leaf.layout == torch.strided and leaf.device.type != "meta")
