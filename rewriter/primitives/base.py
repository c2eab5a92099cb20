"""What a primitive is: one small rewrite with its own precondition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skel.store.schema import NumericsClass

from ..kernel.edits import Edit


@dataclass(frozen=True)
class Primitive:
    """A named rewrite: `apply(module, kernel, **arguments)` gives edits, or raises Refuse with the reason."""

    name: str
    apply: Callable[..., list[Edit]]
    numerics: NumericsClass
    """How far it may move results at most."""
    arguments: tuple[str, ...] = ()
    """Keyword arguments it takes."""
