"""Builds findings from the one table of codes, from keyword fields or from the plain facts that workers report."""

from __future__ import annotations

from typing import Any

from skel.store.schema import CODES, Finding, Place


def finding(
    code: str,
    place: Place | None = None,
    *,
    severity: str = "info",
    measured: str | None = None,
    compared_with: str | None = None,
    data: dict[str, Any] | None = None,
    **fields: Any,
) -> Finding:
    """A finding of the table; all fields also go into `data`. Raises KeyError for an unknown code."""
    entry = CODES[code]
    return Finding(
        code=code,
        message=entry.message(**fields),
        place=place or Place(),
        severity=severity,
        measured=measured,
        compared_with=compared_with,
        hint=entry.hint,
        data={**fields, **(data or {})},
    )


def from_fact(fact: dict[str, Any], place: Place, measured: str) -> Finding:
    """A worker's fact (`code`, `fields`, `severity`) as a finding."""
    fields = {key: value for key, value in fact["fields"].items() if value is not None}
    line = fact["fields"].get("line")
    return finding(
        fact["code"],
        place.model_copy(update={"line": line}) if line else place,
        severity=fact["severity"],
        measured=measured,
        data=fact["data"],
        **fields,
    )
