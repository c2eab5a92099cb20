"""What can go wrong outside the user's kernel, and the exit status it ends with."""

from __future__ import annotations

from skel.miner.errors import SourceError
from skel.store.errors import RecordError, StoreError, UnknownSkeleton
from skel.store.schema.words import ExitStatus


class Fault(Exception):
    """Ends a command with one report: what happened, where, and what to do. Not for verdicts."""

    status = ExitStatus.OUR_FAULT

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what, self.where, self.hint = what, where, hint


class WrongUse(Fault):
    """The command was called in a way that cannot work."""

    status = ExitStatus.WRONG_USE


class MissingHere(Fault):
    """The command needs something that this machine or installation lacks."""

    status = ExitStatus.MISSING_HERE


def as_fault(error: Exception) -> Fault | None:
    """The fault that `error` stands for; None where it is one of ours that nobody foresaw."""
    if isinstance(error, Fault):
        return error
    if isinstance(error, SourceError):
        return (MissingHere if error.missing else WrongUse)(error.what, where=error.where, hint=error.hint)
    if isinstance(error, StoreError):
        return MissingHere(error.what, where=error.where, hint=error.hint)
    if isinstance(error, UnknownSkeleton):
        return WrongUse(str(error), hint="see `skel list`, or `skel search` for what it does")
    if isinstance(error, RecordError):
        return WrongUse(f"a skeleton record is faulty\n{error}", hint="correct the record; `skel schema` has its form")
    return None
