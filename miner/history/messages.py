"""What a commit's message says of the commit itself: a repair, a revert, or routine work."""

from __future__ import annotations

import re

_REVERT = re.compile(r"^\s*revert\b[:\s]*\"?(.*?)\"?\s*$", re.IGNORECASE)
_REVERTED_NAME = re.compile(r"This reverts commit ([0-9a-f]{7,40})", re.IGNORECASE)
_FIX = re.compile(
    r"\b(bug\s?fix|hot\s?fix|fix(es|ed|ing)?|correct(ness)?|repair|workaround|overflow|race condition|illegal memory|"
    r"out[- ]of[- ]bounds|miscompil\w*|wrong (result|output|gradient)\w*|NaN)\b",
    re.IGNORECASE,
)
_ROUTINE = re.compile(
    r"^\s*(\[?(docs?|ci|chore|misc|style|lint|format|readme|tests?|release|bump|version)\]?[:\s(]|"
    r"merge (branch|pull)|bump |release |(run )?(format|lint|isort|black|ruff|pre-commit)\b|typo)",
    re.IGNORECASE,
)


def is_fix(message: str) -> bool:
    """True where the subject speaks of a repair."""
    return _FIX.search(message.split("\n", 1)[0]) is not None


def is_routine(message: str) -> bool:
    """True for versions, formats, documentation and merges."""
    return _ROUTINE.match(message.split("\n", 1)[0]) is not None


def reverted(message: str) -> str | None:
    """The commit that this one takes back: its name, else its subject; None for any other commit."""
    named = _REVERTED_NAME.search(message)
    if named:
        return named[1].lower()
    subject = _REVERT.match(message.split("\n", 1)[0])
    return subject[1].strip() if subject and subject[1].strip() else None
