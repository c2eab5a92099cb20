"""The static ranking of candidates: which to compile first, and which to keep where nothing can be timed.

Parallelism and registers rank; they never refuse. The weights follow what was measured for V-tile fusion on one GPU
(docs/design.md): loops over all tiles did best once there were programs enough, widened tiles at one sequence.
"""

from __future__ import annotations

from collections.abc import Mapping

from .candidate import KEPT, Setting
from .estimates import KernelSizes

COMFORTABLE_REGISTERS = 128
"""Fp32 state registers a thread that compile without spills on sm_90."""


def rank_of(settings: Mapping[str, Setting], sizes: KernelSizes, warps: int | None, order: int) -> float:
    """Lower is better. `order` is the place in the enumeration, the last tie-break."""
    form, tile = settings.get("form", "loop"), settings.get("tile", KEPT)
    count, chosen = settings.get("tiles", KEPT), settings.get("num_warps", KEPT)
    used = chosen if isinstance(chosen, int) else warps or 4
    registers = sizes.state_registers(tile, used)
    score = 0.0 if form == "loop" else 1.0
    score += {"all": 0.0, KEPT: 0.0}.get(str(count), 2.0 / int(count) if str(count).isdigit() else 0.0)
    score += max(0.0, registers / COMFORTABLE_REGISTERS - 1.0) * 4
    score += 0.2 * abs(_log2(used) - _log2(max(1.0, registers * used / 64)))
    return score + order * 1e-4


def _log2(value: float) -> float:
    from math import log2

    return log2(max(value, 1e-9))
