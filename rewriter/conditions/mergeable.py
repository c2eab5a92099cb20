"""tiles_mergeable: tiles of an axis may become one wider tile, or several tiles of one program.

Everything fuse_vtiles asks for: the store classes, the bounds, the sums over slots. See docs/design.md.
"""

from __future__ import annotations

from skel.store.schema import Refusal

from .bounds import check_lanes_bounded
from .context import FusionContext
from .partial_sums import check_partials_summed


def check_mergeable(context: FusionContext) -> list[Refusal]:
    """Every reason against merging tiles, the kernel's own first."""
    if context.lanes.refusals:
        return list(context.lanes.refusals)
    return check_lanes_bounded(context) + check_partials_summed(context)
