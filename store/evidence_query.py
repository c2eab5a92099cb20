"""Finding evidence in the database, and reading it from files of others."""

import json
from pathlib import Path

from pydantic import ValidationError

from .connection import check_content
from .database import Database
from .errors import RecordError
from .schema.evidence import Evidence
from .yaml_tree import dotted


def all_evidence(database: Database, skeleton: str | None = None) -> tuple[tuple[str, Evidence], ...]:
    """Id and evidence, oldest first; of one skeleton or of all. Raises StoreError where a row is damaged."""
    where, values = (" WHERE skeleton = ?", (skeleton,)) if skeleton is not None else ("", ())
    return _rows(database, f"{where} ORDER BY measured_at, id", values)


def find_evidence(database: Database, prefix: str) -> tuple[tuple[str, Evidence], ...]:
    """Evidence whose id begins with `prefix`. Raises StoreError where a row is damaged."""
    return _rows(database, " WHERE substr(id, 1, ?) = ? ORDER BY id", (len(prefix), prefix))


def read_evidence(path: Path) -> tuple[Evidence, ...]:
    """Evidence from a file: one object or a list of them, as `export` writes it. Raises RecordError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(path, None, None, f"cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise RecordError(path, error.lineno, None, f"no valid JSON: {error.msg}") from error
    found = []
    for item in data if isinstance(data, list) else [data]:
        try:
            found.append(Evidence.model_validate(item))
        except ValidationError as error:
            faults = error.errors(include_url=False)
            raise RecordError.of_all(
                [RecordError(path, None, dotted(one["loc"]), one["msg"]) for one in faults]
            ) from error
    return tuple(found)


def _rows(database: Database, condition: str, values: tuple[object, ...]) -> tuple[tuple[str, Evidence], ...]:
    with database.reading() as connection:
        rows = connection.execute(f"SELECT id, content FROM evidence{condition}", values).fetchall()
    return tuple((key, Evidence.model_validate_json(check_content(text, key, database.path))) for key, text in rows)
