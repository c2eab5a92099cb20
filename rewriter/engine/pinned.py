"""Whether a decision that a user pinned has a value that any kernel could take."""

from __future__ import annotations

from ..reasons import refuse
from .candidate import KEPT, Setting

MOST_WARPS = 32
"""A program has at most 1024 threads."""
_WORDS = {"tile": ("whole", "divisor"), "tiles": ("all",), "num_warps": ()}
"""Words that a decision may be besides `kept`, by its name."""


def check_pinned(name: str, value: Setting) -> None:
    """Raises Refuse (bad_setting): a tile or warps that are no power of two, a count that is not positive."""
    if name not in _WORDS or value == KEPT or value in _WORDS[name]:
        return
    words = "".join(f", or {word}" for word in (KEPT, *_WORDS[name]))
    whole = isinstance(value, int) and not isinstance(value, bool)
    if name == "tiles":
        fine, why = whole and int(value) >= 1, f"it is a whole number from 1 on{words}"
    else:
        fine = whole and int(value) >= 1 and int(value) & (int(value) - 1) == 0
        why = f"it is a power of two{words}"
    if fine and name == "num_warps" and int(value) > MOST_WARPS:
        fine, why = False, f"a program has at most {MOST_WARPS} warps"
    if not fine:
        raise refuse("bad_setting", 1, setting=name, value=value, why=why)
