"""Takes a technique out of a kernel."""

from __future__ import annotations

from ..kernel.definition import KernelDef, Module, choose_kernel, load_module
from ..kernel.edits import Edit, apply_edits
from .base import Inverse


def undone(module: Module, kernel: KernelDef, inverse: Inverse) -> list[Edit]:
    """Edits after which the kernel is without the technique. Raises Refuse with the reason why there are none."""
    return inverse.primitive.apply(module, kernel, **inverse.arguments)


def without(text: str, path: str, kernel: str, inverse: Inverse) -> str:
    """The file without the technique in that kernel. Raises Refuse."""
    module = load_module(text, path)
    return apply_edits(text, undone(module, choose_kernel(module, kernel), inverse))
