"""Search over the records: what a user sees in, what skeletons come out, and why.

Scorers (full text today) each give records a score in [0, 1]; `search` adds what only the best few can be asked
(one passage that answers most of the query), drops what does not answer it, and says what matched.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .database import Database
from .fulltext import COLUMNS, SYNONYM_WEIGHT, Weighed, marked, scores, weigh
from .query import parse
from .stems import stems

MIN_SCORE = 0.3
"""Where the best record answers a smaller share of the query's weight, nothing answers the query."""
MIN_OF_BEST = 0.4
"""A record that scores a smaller share of the best one's score is not listed."""
_PASSAGE_WEIGHT = 0.5
_LOOKED_AT = 20
_MOST_WORDS = 6
_MARKED = re.compile("\x02([^\x03]*)\x03")


@dataclass(frozen=True, slots=True)
class Hit:
    """One record that answers a query."""

    name: str
    score: float
    """In [0, 1], comparable within one search."""
    title: str
    kind: str
    why: str
    """Which symptom or field matched, and which words."""


@dataclass(frozen=True, slots=True)
class _Passage:
    field: str
    index: int
    words: tuple[str, ...]
    weight: float


def search(database: Database, query: str, limit: int = 10) -> tuple[Hit, ...]:
    """The records that answer `query`, best first; none where nothing does. Raises StoreError."""
    terms = parse(query)
    if not terms or limit < 1:
        return ()
    with database.reading() as connection:
        weighed = weigh(connection, terms)
        found = scores(weighed) if any(item.strength and item.weight for item in weighed) else {}
        best = sorted(found, key=lambda row: (-found[row], row))[: max(limit, _LOOKED_AT)]
        if not best or found[best[0]] < MIN_SCORE:
            return ()
        columns = marked(connection, weighed, best)
        meanings = _Meanings(weighed, columns.values())
        passages = {row: _passages(columns[row], meanings) for row in best}
        total = sum(item.weight for item in weighed)
        final = {row: _blend(found[row], passages[row], total) for row in best}
        ranked = sorted(best, key=lambda row: (-final[row], row))[:limit]
        kept = [row for row in ranked if final[row] >= MIN_OF_BEST * final[ranked[0]]]
        records = dict(connection.execute(
            f"SELECT id, content FROM skeletons WHERE id IN ({', '.join('?' * len(kept))})", kept).fetchall())
    return tuple(_hit(json.loads(records[row]), final[row], passages[row]) for row in kept)


def _blend(score: float, passages: list[_Passage], total: float) -> float:
    """A sentence that answers most of the query is worth more than the same words scattered over a record."""
    closest = max((passage.weight for passage in passages), default=0.0) / total if total else 0.0
    return (1 - _PASSAGE_WEIGHT) * score + _PASSAGE_WEIGHT * min(closest, 1.0)


def _passages(columns: tuple[str, ...], meanings: "_Meanings") -> list[_Passage]:
    """Every line of a record's text that answers a query term, with the words that do and the weight they answer."""
    found = []
    for field, column in zip(COLUMNS, columns, strict=True):
        for index, text in enumerate(column.split("\n")):
            words = dict.fromkeys(_MARKED.findall(text))
            answered: dict[str, float] = {}
            for word in words:
                for term, weight in meanings.of(word):
                    answered[term] = max(answered.get(term, 0.0), weight)
            if answered:
                found.append(_Passage(field, index, tuple(words), sum(answered.values())))
    return found


class _Meanings:
    """Which query terms a word of a record answers, and with what weight."""

    def __init__(self, weighed: tuple[Weighed, ...], columns: Iterable[tuple[str, ...]]) -> None:
        marks = {mark for texts in columns for text in texts for mark in _MARKED.findall(text)}
        queried = {phrase for item in weighed for phrase in (item.term.text, *item.term.others)}
        self._stems = stems([*marks, *queried])
        self._terms: dict[str, list[tuple[str, float]]] = {}
        for item in weighed:
            self._terms.setdefault(self._stems[item.term.text], []).append((item.term.text, item.weight))
            for other in item.term.others:
                self._terms.setdefault(self._stems[other], []).append((item.term.text, item.weight * SYNONYM_WEIGHT))

    def of(self, mark: str) -> list[tuple[str, float]]:
        """The terms answered by a marked phrase, or by its words where two phrases overlap in it."""
        stem = self._stems[mark]
        return self._terms.get(stem) or [found for word in stem.split() for found in self._terms.get(word, [])]


def _hit(record: dict[str, Any], score: float, passages: list[_Passage]) -> Hit:
    return Hit(record["name"], round(score, 4), record["title"], record["kind"], _why(record, passages))


def _why(record: dict[str, Any], passages: list[_Passage]) -> str:
    """The passage that answers most, quoted, then the other fields that matched, each with its words."""
    ordered = sorted(passages, key=lambda passage: -passage.weight)
    reasons = [f'{_label(ordered[0].field)} "{_text(record, ordered[0])}" ({", ".join(ordered[0].words)})']
    for field in COLUMNS:
        words = dict.fromkeys(word for passage in ordered[1:] if passage.field == field for word in passage.words)
        if words and field != ordered[0].field:
            reasons.append(f"{_label(field)} ({', '.join(list(words)[:_MOST_WORDS])})")
    return "; ".join(reasons)


def _label(field: str) -> str:
    return {"symptoms": "symptom", "tags": "tag", "applies_if": "condition"}.get(field, field)


def _text(record: dict[str, Any], passage: _Passage) -> str:
    """The sentence as its author wrote it."""
    if passage.field == "symptoms":
        return str([*record["symptoms"]["en"], *record["symptoms"]["zh"]][passage.index])
    value = record[passage.field]
    return str(value[passage.index] if isinstance(value, list) else value)
