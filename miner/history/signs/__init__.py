"""Signs of techniques in the code of a commit."""

from __future__ import annotations

from collections.abc import Iterator

from ..view import Sign, View
from .cuda import cuda_signs
from .host import host_signs
from .local import local_signs
from .structure import structure_signs


def signs_of(view: View) -> Iterator[Sign]:
    """Every sign, in no order."""
    yield from local_signs(view)
    yield from structure_signs(view)
    yield from host_signs(view)
    yield from cuda_signs(view)
