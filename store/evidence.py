"""Evidence in the database: append-only, identified by the hash of its content."""

import json
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from .canonical import canonical_json, sha256
from .connection import check_content
from .database import Database
from .errors import RecordError
from .schema.evidence import Evidence
from .yaml_tree import dotted

if TYPE_CHECKING:
    from .models import EvidenceRow


def evidence_id(evidence: Evidence) -> str:
    """The SHA-256 of the canonical content: equal evidence has one id wherever it was stored."""
    return sha256(canonical_json(evidence))


def add_evidence(database: Database, evidence: Evidence) -> str:
    """Append a piece of evidence and return its id. Evidence that is there already is not stored twice."""
    row = row_of_evidence(evidence)
    key = row.id
    with database.writing() as session:
        if session.get(type(row), key) is None:
            session.add(row)
    return key


def evidence_for(database: Database, skeleton: str) -> tuple[Evidence, ...]:
    """All evidence on a skeleton, good and bad, oldest first. Raises StoreError where it is damaged."""
    with database.reading() as connection:
        rows = connection.execute(
            "SELECT content, id FROM evidence WHERE skeleton = ? ORDER BY measured_at, id", (skeleton,)).fetchall()
    return tuple(Evidence.model_validate_json(check_content(row[0], row[1], database.path)) for row in rows)


def load_evidence(path: Path) -> tuple[Evidence, ...]:
    """The evidence in a shipped file `NAME/evidence/*.json`: one object or a list of them. Raises RecordError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(path, None, None, f"cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise RecordError(path, error.lineno, None, f"no valid JSON: {error.msg}") from error
    found = tuple(_validated(path, item) for item in (data if isinstance(data, list) else [data]))
    owner = path.parent.parent.name
    for item in found:
        if item.skeleton != owner:
            raise RecordError(path, None, "skeleton", f"is {item.skeleton!r}, but lies with {owner!r}")
    return found


def _validated(path: Path, item: object) -> Evidence:
    try:
        return Evidence.model_validate(item)
    except ValidationError as error:
        raise RecordError.of_all([RecordError(path, None, dotted(detail["loc"]), detail["msg"])
                                  for detail in error.errors(include_url=False)]) from error


def row_of_evidence(evidence: Evidence) -> "EvidenceRow":
    """The database row of a piece of evidence."""
    from .models import EvidenceRow

    content = canonical_json(evidence)
    moment = evidence.measured_at
    return EvidenceRow(
        id=sha256(content), skeleton=evidence.skeleton, kernel=evidence.kernel, level=evidence.level,
        verdict=evidence.verdict.value,
        measured_at=(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)).isoformat(),
        environment=canonical_json(evidence.environment), content=content)
