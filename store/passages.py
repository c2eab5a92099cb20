"""A record as passages: the sentences that search looks at, each with the field it stands in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FIELD_WEIGHTS = {"name": 4.0, "title": 3.0, "symptoms": 3.0, "tags": 2.0, "summary": 1.0, "applies_if": 1.0,
                 "evidence": 0.5, "occurrences": 0.5}
"""How much a word counts by where it stands."""
ASIDE = frozenset({"evidence", "occurrences"})
"""Fields that say where and how well a technique worked, not what it is for: a word found only there counts less."""
LABELS = {"symptoms": "symptom", "tags": "tag", "applies_if": "condition", "occurrences": "occurrence"}
_EMBEDDED = ("title", "symptoms", "summary", "applies_if", "evidence")


@dataclass(frozen=True, slots=True)
class Passage:
    """One sentence, tag or path of a record."""

    field: str
    text: str
    """As its author wrote it."""


def passages(record: Mapping[str, Any]) -> tuple[Passage, ...]:
    """The passages of a record given as parsed JSON, the same ones in the same order whenever it is read."""
    symptoms = record["symptoms"]
    found = [Passage("name", record["name"]), Passage("title", record["title"])]
    found += [Passage("symptoms", text) for text in (*symptoms.get("en", ()), *symptoms.get("zh", ()))]
    found += [Passage("tags", text) for text in record.get("tags", ())]
    found.append(Passage("summary", record["summary"].strip()))
    found += [Passage("applies_if", text.strip()) for text in record.get("applies_if", ())]
    found += [Passage("evidence", claim["statement"].strip()) for claim in record.get("evidence", ())]
    found += [Passage("occurrences", source["path"]) for source in record.get("sources", ())]
    return tuple(found)


def embedded(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts of a record that get a vector: English sentences, and its tags as one text."""
    return embedded_of(passages(record), record)


def embedded_of(found: Sequence[Passage], record: Mapping[str, Any]) -> tuple[str, ...]:
    """The same, of a record whose passages are at hand."""
    sentences = [passage.text for passage in found if passage.field in _EMBEDDED and passage.text.isascii()]
    return tuple(dict.fromkeys([*sentences, ", ".join(record.get("tags", ()))] if record.get("tags") else sentences))
