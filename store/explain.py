"""Why a record answers a query: the sentence that matched, the words in it, and the sentence nearest in meaning."""

from collections.abc import Mapping, Sequence
from typing import Any

from .fulltext import Wanted
from .passages import LABELS, embedded_of, passages
from .stems import stems
from .terms import terms

Lines = tuple[tuple[str, ...], ...]
_MOST_WORDS, _MOST_FIELDS = 6, 3
_MOST_CHARACTERS = 200
_NEAR = 0.4
"""A cosine below says nothing that a reader would agree with."""


def why(record: Mapping[str, Any], lines: Lines, wanted: Wanted, matched: Sequence[tuple[int, float]],
        nearest: tuple[int, float] | None) -> list[str]:
    """The reasons, strongest first: the passage that answers most, quoted; the sentence nearest in meaning, quoted
    where it is another one; then the other fields that hold query words.

    `lines` are the stems of the record's passages, `matched` indices of passages with the weight they answer.
    """
    found = passages(record)
    closest = embedded_of(found, record)[nearest[0]] if nearest is not None and nearest[1] >= _NEAR else None
    near = f'near in meaning to "{_cut(closest)}" ({nearest[1]:.2f})' if nearest and closest else None
    ordered = sorted(matched, key=lambda entry: -entry[1])
    if not ordered:
        return [near] if near else []
    first = found[ordered[0][0]]
    words = ", ".join(_words(first.text, lines[ordered[0][0]], wanted))
    reasons = [f'{LABELS.get(first.field, first.field)} "{_cut(first.text)}" ({words})']
    if nearest is not None and closest == first.text:
        reasons[0] += f", meaning {nearest[1]:.2f}"
    elif near:
        reasons.append(near)
    best_of = {first.field: ordered[0][0]}
    for number, _ in ordered[1:]:
        best_of.setdefault(found[number].field, number)
    others = list(best_of.items())[1:_MOST_FIELDS + 1]
    return reasons + [f"{LABELS.get(field, field)} "
                      f"({', '.join(_words(found[number].text, lines[number], wanted)[:_MOST_WORDS])})"
                      for field, number in others]


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS].rsplit(" ", 1)[0] + " ..."


def _words(text: str, line: Sequence[str], wanted: Wanted) -> list[str]:
    """The distinct words of a text, given its stems too, that answer query terms; as the index holds them."""
    words = terms(text)
    # A word may have no stem or several: then the stems tell which word they are of only one by one.
    pairs = zip(words, line, strict=True) if len(words) == len(line) else stems(words).items()
    return list(dict.fromkeys(word for word, stem in pairs if stem in wanted.words))
