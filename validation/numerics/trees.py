"""Inputs and outputs as trees of dicts, tuples and lists: walking them, flattening them to names, saving them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def map_tensors(change: Callable[[torch.Tensor], Any], tree: Any) -> Any:
    """The tree with every tensor replaced by `change(tensor)`; other leaves stay."""
    import torch

    if isinstance(tree, torch.Tensor):
        return change(tree)
    if isinstance(tree, dict):
        return {key: map_tensors(change, value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        changed = [map_tensors(change, value) for value in tree]
        return changed if isinstance(tree, list) else tuple(changed)
    return tree


def flatten(tree: Any, prefix: str = "", alone: str = "output") -> dict[str, Any]:
    """Leaves by dotted name, in order: `{"o": t, "state.0": t}`; a single leaf is called `alone`."""
    if isinstance(tree, dict):
        items = [(str(key), value) for key, value in tree.items()]
    elif isinstance(tree, (list, tuple)):
        items = [(str(number), value) for number, value in enumerate(tree)]
    else:
        return {prefix or alone: tree}
    flat: dict[str, Any] = {}
    for key, value in items:
        flat.update(flatten(value, f"{prefix}.{key}" if prefix else key))
    return flat


def save(tree: Any, path: Path) -> None:
    """Writes tensors and plain values, on the CPU, whole or not at all. Views of one storage stay views of one."""
    import torch

    part = path.with_suffix(".part")
    torch.save(tree, part)
    part.rename(path)


def seal(path: Path) -> list[int]:
    """What changes when somebody writes into the file, or puts another in its place: node, size, time of change."""
    found = path.stat()
    return [found.st_ino, found.st_size, found.st_ctime_ns]


def load(path: Path) -> Any:
    """Reads what `save` wrote. Only tensors and plain values are let in: nothing in the file is run.

    Raises pickle.UnpicklingError where the file holds anything else, OSError where it is not there.
    """
    import torch

    return torch.load(path, map_location="cpu", weights_only=True)
