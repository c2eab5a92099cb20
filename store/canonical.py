"""Records as canonical JSON: the same content always gives the same text, and so the same hash."""

import hashlib
import json

from pydantic_core import to_json

from .schema.base import Record


def canonical_json(record: Record) -> str:
    """Sorted keys, no spaces. JSON has no infinities or NaN: they become the strings `Infinity`, `-Infinity`, `NaN`."""
    content = json.loads(to_json(record.model_dump(exclude_none=True), inf_nan_mode="strings"))
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def sha256(text: str) -> str:
    """Hex digest of the UTF-8 text."""
    return hashlib.sha256(text.encode()).hexdigest()
