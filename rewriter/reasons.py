"""Building refusals and findings from the one table of codes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from skel.store.schema import CODES, Finding, Place, Refusal


class Refuse(Exception):
    """Raised inside the rewriter to give up with a reason; caught at the engine's edge, never shown as a traceback."""

    def __init__(self, refusal: Refusal, others: Iterable[Refusal] = ()) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal
        self.refusals = (refusal, *others)
        """Every reason, the weightiest first."""


def refusal(
    code: str, where: ast.AST | int | None = None, also: Iterable[ast.AST | int] = (), **fields: object
) -> Refusal:
    """A refusal from the table. `where` is the line at fault (or its node); `also` are other lines that matter.

    Raises KeyError for an unknown code or a missing field: a fault of ours.
    """
    entry = CODES[code]
    lines = tuple(dict.fromkeys(n for n in (line_of(where), *map(line_of, also)) if n is not None))
    if lines and "line" not in fields:
        fields["line"] = lines[0]
    return Refusal(
        code=code,
        line=lines[0] if lines else None,
        lines=lines,
        message=entry.message(**fields),
        hint=_hint(entry.hint, fields),
    )


def refuse(
    code: str, where: ast.AST | int | None = None, also: Iterable[ast.AST | int] = (), **fields: object
) -> Refuse:
    """The exception that carries `refusal(...)`: `raise refuse("no_tiled_axis", node, kernel=name)`."""
    return Refuse(refusal(code, where, also, **fields))


def refuse_all(refusals: Iterable[Refusal]) -> None:
    """Raise Refuse with all of them, or return where there are none."""
    found = list(dict.fromkeys(refusals))
    if found:
        raise Refuse(found[0], found[1:])


def finding(
    code: str,
    place: Place | None = None,
    *,
    severity: str = "info",
    measured: str | None = "analysis",
    data: dict[str, object] | None = None,
    **fields: object,
) -> Finding:
    """A finding from the table of codes."""
    entry = CODES[code]
    return Finding(
        code=code,
        message=entry.message(**fields),
        place=place or Place(),
        severity=severity,
        measured=measured,
        hint=_hint(entry.hint, fields),
        data=dict(data or {}),
    )


def line_of(where: ast.AST | int | None) -> int | None:
    """The 1-based first line of a node; an int is taken as it is."""
    if where is None or isinstance(where, int):
        return where
    return getattr(where, "lineno", None)


def _hint(template: str, fields: dict[str, object]) -> str:
    try:
        return template.format(**fields)
    except (KeyError, IndexError):
        return template
