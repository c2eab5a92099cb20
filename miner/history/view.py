"""A commit's edits, as the signs of techniques look at them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from .model import FunctionEdit


@dataclass(frozen=True, slots=True)
class Sign:
    """What a change shows of one technique."""

    skeleton: str
    strength: int
    """3: hardly anything else looks like it; 2: likely; 1: a hint that needs the message."""
    why: str
    adds: bool = True
    """False where the technique goes."""


@dataclass(frozen=True, eq=False)
class View:
    """All edits of one commit."""

    edits: tuple[tuple[str, FunctionEdit], ...]

    def _of(self, kind: str) -> list[FunctionEdit]:
        return [e for _, e in self.edits if e.kind == kind]

    @cached_property
    def kernels(self) -> list[FunctionEdit]:
        """Kernels on both sides of the commit."""
        return [e for e in self._of("kernel") if e.before and e.after]

    @cached_property
    def new_kernels(self) -> list[FunctionEdit]:
        return [e for e in self._of("kernel") if e.before is None]

    @cached_property
    def gone_kernels(self) -> list[FunctionEdit]:
        return [e for e in self._of("kernel") if e.after is None]

    @cached_property
    def hosts(self) -> list[FunctionEdit]:
        """Host functions, new ones included, and statements of files."""
        return [*self._of("host"), *self._of("module")]

    @cached_property
    def cuda(self) -> list[FunctionEdit]:
        return self._of("cuda")

    @cached_property
    def every_kernel(self) -> list[FunctionEdit]:
        return [*self.kernels, *self.new_kernels, *self.gone_kernels]


def gains(edit: FunctionEdit, *tokens: str) -> int:
    """How many more of these tokens a function has."""
    return sum(edit.added.get(t, 0) for t in tokens)


def loses(edit: FunctionEdit, *tokens: str) -> int:
    """How many fewer of these tokens a function has."""
    return sum(edit.removed.get(t, 0) for t in tokens)


def matching(names: Iterable[str], pattern: re.Pattern[str]) -> list[str]:
    """Names that a pattern finds something in, in order."""
    return [n for n in names if pattern.search(n)]


def numbers(facts: Iterable[str], prefix: str) -> Iterator[int]:
    """The numbers of facts such as `axes:2`."""
    for fact in facts:
        head, _, rest = fact.rpartition(":")
        if head == prefix and rest.isdigit():
            yield int(rest)


def change(edit: FunctionEdit, prefix: str) -> int:
    """By how much a counted fact, such as `axes:2`, went up; 0 where it is not on both sides."""
    before, after = list(numbers(edit.lost, prefix)), list(numbers(edit.gained, prefix))
    return max(after) - max(before) if before and after else 0
