"""Records and dataclasses as plain JSON types."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any


def plain(value: Any) -> Any:
    """`value` as plain JSON types: records and dataclasses by field, tuples as lists, non-finite floats as strings."""
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    return value if value is None or isinstance(value, bool | int) else str(value)
