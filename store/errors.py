"""What can go wrong in the store, said so that a user can act on it."""

from pathlib import Path


class StoreError(Exception):
    """The database cannot be used: what is wrong, where, and what to do about it."""

    def __init__(self, what: str, where: str | Path, hint: str) -> None:
        super().__init__(what, str(where), hint)
        self.what = what
        self.where = str(where)
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; {self.hint}"


class InaccessibleError(StoreError):
    """The database's place cannot be read or written."""


class UnknownSkeleton(LookupError):
    """No skeleton has this name; `close` lists names that look like it."""

    def __init__(self, name: str, close: tuple[str, ...]) -> None:
        super().__init__(name, close)
        self.name = name
        self.close = close

    def __str__(self) -> str:
        meant = f"; did you mean {' or '.join(self.close)}?" if self.close else ""
        return f"there is no skeleton named {self.name!r}{meant}"


class RecordError(ValueError):
    """A record that cannot be loaded: file, line (1-based), field and message.

    `others` holds the further faults of the same load, so that one run shows them all.
    """

    def __init__(self, file: str | Path, line: int | None, field: str | None, message: str,
                 others: "tuple[RecordError, ...]" = ()) -> None:
        super().__init__(str(file), line, field, message, others)
        self.file = str(file)
        self.line = line
        self.field = field
        self.message = message
        self.others = others

    def _one(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"

    def __str__(self) -> str:
        return "\n".join([self._one(), *(other._one() for other in self.others)])

    @classmethod
    def of_all(cls, errors: "list[RecordError]") -> "RecordError":
        """One error that carries all of `errors` (at least one)."""
        first = errors[0]
        return cls(first.file, first.line, first.field, first.message, tuple(errors[1:]))
