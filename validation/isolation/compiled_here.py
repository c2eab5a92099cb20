"""Every binary that runs in a worker was compiled there, from the source that was loaded there.

Triton's cache is a folder that the judged code can write to: an entry that was swapped, or is left from another source,
would run under the present kernel's name. So it is never read, and a worker whose cache was read says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

VARIABLE = "TRITON_ALWAYS_COMPILE"
"""Triton's own switch (`triton.knobs.compilation.always_compile`): entries are written and never read."""
CODE = "stale_binary"


class Watching:
    """Triton's listener for compilations: reports each that was answered from the cache."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report

    def __call__(self, *, src: Any, cache_hit: bool = False, **others: Any) -> None:
        if cache_hit:
            self._report(f"{getattr(src, 'name', 'a kernel')}, read from Triton's cache")


def install(report: Callable[[str], None]) -> None:
    """From now on every binary that comes out of the cache is reported, and none should. Needs triton imported."""
    if (knobs := _knobs()) is not None:
        knobs.compilation.always_compile = True
        knobs.compilation.listener = Watching(report)


def switched_off() -> list[str]:
    """What the judged code did to that switch or to the listener, by name; empty where both are in force."""
    knobs = _knobs()
    if knobs is None:
        return []
    found = [] if knobs.compilation.always_compile else ["triton.knobs.compilation.always_compile"]
    return found + ([] if isinstance(knobs.compilation.listener, Watching) else ["triton.knobs.compilation.listener"])


def _knobs() -> Any:
    return getattr(sys.modules.get("triton"), "knobs", None)
