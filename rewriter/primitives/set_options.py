"""set_launch: the launch options of a kernel, as a step of a schedule.

rewrite:  kernel[grid](x, BV=BV)  ->  kernel[grid](x, BV=BV, num_warps=4)

Numerics
    `reassociated`: the number of warps changes the order in which reductions add.
"""

from __future__ import annotations

from skel.store.schema import NumericsClass

from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.launch import readable_launches
from .base import Primitive
from .set_launch import set_launch


def set_options(
    module: Module, kernel: KernelDef, *, num_warps: int | None = None, num_stages: int | None = None
) -> list[Edit]:
    """Edits that give every launch of the kernel these options. Raises Refuse as set_launch does."""
    options = {
        name: value for name, value in (("num_warps", num_warps), ("num_stages", num_stages)) if value is not None
    }
    return set_launch(module, readable_launches(module, kernel), options) if options else []


PRIMITIVE = Primitive("set_launch", set_options, NumericsClass.REASSOCIATED, ("num_warps", "num_stages"))
