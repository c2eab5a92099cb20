"""What changed in a file of CUDA or C++, by its words: comments and strings are gone, formatting does not count."""

from __future__ import annotations

import re
from collections import Counter

from .model import FunctionEdit

SUFFIXES = (".cu", ".cuh", ".hpp", ".cpp", ".h", ".cc")
_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*|\d+|[^\s\w]")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_KERNEL = re.compile(r"__global__[^;{]*?\b([A-Za-z_]\w*)\s*\(", re.DOTALL)


def cuda_edit(old: str | None, new: str | None) -> FunctionEdit | None:
    """The change of a file as one edit; None where only comments or layout changed.

    Tokens are identifiers, `before` and `after` hashes of the words, `lost` and `gained` the `__global__` functions.
    """
    had, has = _words(old), _words(new)
    if had == has:
        return None
    before, after = Counter(w for w in had if _IDENTIFIER.match(w)), Counter(w for w in has if _IDENTIFIER.match(w))
    left, right = _kernels(old), _kernels(new)
    return FunctionEdit(
        name="<file>",
        kind="cuda",
        before=_hash(had) if old is not None else None,
        after=_hash(has) if new is not None else None,
        removed=dict(sorted((before - after).items())),
        added=dict(sorted((after - before).items())),
        lost=tuple(sorted(f"kernel:{k}" for k in left - right)),
        gained=tuple(sorted(f"kernel:{k}" for k in right - left)),
        parameters=tuple(sorted(right)),
    )


def _words(text: str | None) -> list[str]:
    return _WORD.findall(_NOISE.sub(" ", text)) if text is not None else []


def _kernels(text: str | None) -> set[str]:
    if text is None:
        return set()
    skip = {"__launch_bounds__", "__cluster_dims__", "void", "requires", "decltype", "alignas"}
    return {m for m in _KERNEL.findall(_unbounded(text)) if m not in skip}


def _unbounded(text: str) -> str:
    """Without launch bounds, whose parentheses would read as parameters."""
    return re.sub(r"__(?:launch_bounds|cluster_dims)__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)", " ", _NOISE.sub(" ", text))


def _hash(words: list[str]) -> str:
    from hashlib import sha256

    return sha256(" ".join(words).encode()).hexdigest()[:20]
