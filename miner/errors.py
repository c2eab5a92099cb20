"""What can go wrong with a source, said so that a user can act on it."""

from __future__ import annotations


class SourceError(Exception):
    """A source cannot be read: what is wrong, where, and what to do about it.

    `missing` tells what this machine lacks (a wheel, git, a commit of a history cut short) from what was asked wrongly.
    """

    def __init__(self, what: str, where: str, hint: str, *, missing: bool = False) -> None:
        super().__init__(what, where, hint)
        self.what, self.where, self.hint, self.missing = what, where, hint, missing

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; {self.hint}"
