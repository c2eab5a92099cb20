"""set_launcher_default: another default for an argument by which the launcher lets callers tune it.

rewrite:  def decode(q, k, v, block_v=None, nk=2):  ->  def decode(q, k, v, block_v=32, nk=1):

A caller that names the argument keeps its own choice.

Conditions
    launcher_arguments: all that becomes of the argument are checks, the grid, launch options and block sizes. For a
    tile also tiles_mergeable, as for fuse_axis_widen: the result does not depend on the tile.

Numerics
    `reassociated`: block sizes and warps change the order in which sums are taken.

Refuses with no_such_option for an argument that is none of those, bad_setting for a value that is no positive number.
"""

from __future__ import annotations

from skel.store.schema import NumericsClass

from ..analysis.facts import analyse
from ..conditions.fusable_axis import choose_axis
from ..conditions.launcher_arguments import launcher_arguments
from ..conditions.mergeable import check_mergeable
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..reasons import refuse, refuse_all
from .base import Primitive


def set_launcher_default(module: Module, kernel: KernelDef, *, name: str, value: int) -> list[Edit]:
    """The edit that gives the launcher's argument `name` the default `value`. Raises Refuse."""
    offered = {argument.name: argument for argument in launcher_arguments(module, kernel)}
    if name not in offered:
        have = ", ".join(offered) or "none"
        raise refuse("no_such_option", kernel.node, setting=name, skeleton=f"the launcher of {kernel.name}", have=have)
    if type(value) is not int or value < 1:
        raise refuse("bad_setting", offered[name].default, setting=name, value=value, why="it is a positive number")
    if offered[name].kind == "tile":
        context = choose_axis(analyse(module, kernel), None)
        if offered[name].reaches != (context.tile,):
            raise refuse("no_such_option", kernel.node, setting=name, skeleton="the fused axis", have=context.tile)
        refuse_all(check_mergeable(context))
    start, end = module.source.span(offered[name].default)
    text = str(value)
    return [] if module.source.text[start:end] == text else [Edit(start, end, text)]


PRIMITIVE = Primitive("set_launcher_default", set_launcher_default, NumericsClass.REASSOCIATED, ("name", "value"))
