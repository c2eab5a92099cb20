"""What ends a call besides a result: one error with a stable code of the table."""

from __future__ import annotations

from typing import Any

from skel.store.schema import CODES


class CallError(Exception):
    """A call that did not do what was asked. `fields` fill the code's template and hint."""

    def __init__(self, code: str, **fields: Any) -> None:
        entry = CODES[code]
        self.code = code
        self.fields = fields
        self.message = entry.message(**fields)
        try:
            self.hint = entry.hint.format(**fields)
        except (KeyError, IndexError):
            self.hint = entry.hint
        super().__init__(self.message)

    def to_dict(self) -> dict[str, str]:
        """Code, message and hint, for a result or the database."""
        return {"code": self.code, "message": self.message[:2000], "hint": self.hint[:1000]}

    def __str__(self) -> str:
        return f"{self.code}: {self.message} ({self.hint})"
