"""What a report is made of: evidence with its id, what it is worth today, and the record it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skel.faults import MissingHere, WrongUse
from skel.store.schema import Environment, Evidence, EvidenceStatus, Skeleton

if TYPE_CHECKING:
    from skel.store.database import Database

ID_LENGTH = 4
"""Fewest letters of an id that select evidence: shorter ones are more likely names that are misspelt."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of evidence with what the database knows of it."""

    id: str
    evidence: Evidence
    status: EvidenceStatus
    stale_because: tuple[str, ...] = ()
    skeleton: Skeleton | None = None
    """None where the record is not known here: the evidence came as a file."""


def pieces_of(database: Database, words: Sequence[str]) -> tuple[Piece, ...]:
    """The evidence that any of `words` selects: a skeleton, a kernel, the first letters of an id, a file of evidence.

    All of it where there are no words. In the order of skeleton, file, kernel and time. Raises MissingHere where there
    is no evidence on a skeleton or at all, WrongUse for another word that selects nothing and for a file whose text is
    none, RecordError for a faulty file.
    """
    from skel.here import environment_here
    from skel.store.evidence_query import all_evidence

    stored = dict(all_evidence(database))
    found: dict[str, Evidence] = {} if words else stored
    for word in words:
        found |= _selected(database, stored, word)
    if not found:
        raise MissingHere("there is no evidence here", hint=_HINT)
    now = environment_here()
    made = [_piece(database, key, one, now) for key, one in found.items()]
    return tuple(sorted(made, key=_order))


_HINT = "`skel bench FILE --skeleton NAME` on a GPU makes some; `skel evidence list` shows what there is"


def _order(piece: Piece) -> tuple[str, str, str, float, str]:
    one = piece.evidence
    return one.skeleton, one.file, one.kernel, one.measured_at.timestamp(), piece.id


def _selected(database: Database, stored: dict[str, Evidence], word: str) -> dict[str, Evidence]:
    from pydantic_core import PydanticSerializationError

    from skel.store.canonical import canonical_json, sha256
    from skel.store.evidence_query import read_evidence
    from skel.store.records import list_skeletons

    found = {key: one for key, one in stored.items() if word in (one.skeleton, one.kernel)}
    if not found and len(word) >= ID_LENGTH:
        found = {key: one for key, one in stored.items() if key.startswith(word)}
    if not found and Path(word).is_file():
        try:
            found = {sha256(canonical_json(one)): one for one in read_evidence(Path(word))}
        except (UnicodeError, PydanticSerializationError) as error:  # halves of characters: JSON holds them, text not
            raise WrongUse(f"{word} holds what is no text", hint="export the evidence again") from error
    if found:
        return found
    if word in {one.name for one in list_skeletons(database)}:
        raise MissingHere(f"there is no evidence on {word}", hint=_HINT)
    hint = "name a skeleton, a kernel, the first letters of an id, or a file; `skel evidence list` has them"
    raise WrongUse(f"no evidence is called {word}", hint=hint)


def _piece(database: Database, key: str, one: Evidence, now: Environment) -> Piece:
    from skel.store.errors import UnknownSkeleton
    from skel.store.evidence_status import stale_because, status_of
    from skel.store.records import get_skeleton

    try:
        record = get_skeleton(database, one.skeleton)
    except UnknownSkeleton:
        record = None
    sources = [path for source in record.sources if (path := getattr(source, "path", None))] if record else []
    return Piece(key, one, status_of(one, now, sources), stale_because(one, now), record)
