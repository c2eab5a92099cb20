"""Why a record answers a query: the sentence that matched, the words in it, and the sentence nearest in meaning."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from .fulltext import Wanted
from .passages import LABELS, Passage, embedded, passages
from .stems import stems
from .terms import terms

_MOST_WORDS, _MOST_FIELDS = 6, 3
_MOST_CHARACTERS = 200
_NEAR = 0.4
"""A cosine below says nothing that a reader would agree with."""


def why(record: Mapping[str, Any], wanted: Wanted, matched: Sequence[tuple[int, float]],
        nearest: tuple[int, float] | None) -> list[str]:
    """The reasons, strongest first: the passage that answers most, quoted; the sentence nearest in meaning, quoted
    where it is another one; then the other fields that hold query words."""
    found = passages(record)
    closest = embedded(record)[nearest[0]] if nearest is not None and nearest[1] >= _NEAR else None
    near = f'near in meaning to "{_cut(closest)}" ({nearest[1]:.2f})' if nearest and closest else None
    ordered = sorted(matched, key=lambda entry: -entry[1])
    if not ordered:
        return [near] if near else []
    first = found[ordered[0][0]]
    words = ", ".join(_words(first.text, wanted))
    reasons = [f'{LABELS.get(first.field, first.field)} "{_cut(first.text)}" ({words})']
    if nearest is not None and closest == first.text:
        reasons[0] += f", meaning {nearest[1]:.2f}"
    elif near:
        reasons.append(near)
    best_of: dict[str, Passage] = {first.field: first}
    for number, _ in ordered[1:]:
        best_of.setdefault(found[number].field, found[number])
    others = list(best_of.values())[1:_MOST_FIELDS + 1]
    return reasons + [f"{LABELS.get(other.field, other.field)} "
                      f"({', '.join(_words(other.text, wanted)[:_MOST_WORDS])})" for other in others]


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS].rsplit(" ", 1)[0] + " ..."


def _words(text: str, wanted: Wanted) -> list[str]:
    """The words of a text that answer query terms, as the index holds them."""
    return [word for word, stem in _stemmed(text) if stem in wanted.words]


@lru_cache(maxsize=20_000)
def _stemmed(text: str) -> tuple[tuple[str, str], ...]:
    """The distinct words of a text with their stems; kept, since the sentences of records come up again and again."""
    return tuple(stems(terms(text)).items())
