"""One sentence against all records: words and meaning blended, and whether anything answers at all."""

import sqlite3
from dataclasses import dataclass

from .embedding.arrays import F32, np
from .embedding.encoder import encoder_of
from .fulltext import Wanted, scores, weigh
from .index import Index, lines_of
from .meaning import nearness
from .off_topic import is_off_topic
from .query import parse
from .top import top

MEANING_WEIGHT = 0.55
"""Part of the score that meaning has; words have the rest, and all of it for Chinese (the model knows English)."""
MIN_SCORE = 0.3
"""Where the best record scores less, nothing answers a query that is not compared by meaning."""
MIN_BESIDE_SCOPE = 0.36
"""What a record must score that is as near in meaning as a topic out of scope; by as much less as it is nearer (the
line, and `_SURE`, were chosen over five sets of judged queries, each left out in turn)."""
MIN_WITH_MEANING = 0.25
"""No record that scores less answers, however near it is."""
MIN_OF_BEST = 0.4
"""A record that scores a smaller share of the best one's score is not listed."""
_PASSAGE_WEIGHT = 0.5
_RELATED = 0.15
"""Part of its best relative's score that a record gets on top: a technique that competes with the answer, or
follows it, is worth a look."""
_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Scored:
    """How one sentence scored."""

    final: F32
    """[records], in [0, 1]."""
    matched: dict[int, list[tuple[int, float]]]
    """By position: passages (by index) that answer query terms, with the weight they answer."""
    nearest: dict[int, tuple[int, float]]
    """By position: the embedded text nearest in meaning and its cosine; empty where meaning was not asked."""
    wanted: Wanted
    answers: bool
    """False where nothing answers: every score is then meaningless."""


def score(connection: sqlite3.Connection, index: Index, text: str, model: str, by_meaning: bool) -> Scored:
    """Score every record on one sentence."""
    weighed = weigh(connection, index, parse(text))
    words = scores(index, weighed)
    scope = -1.0
    nearest: dict[int, tuple[int, float]] = {}
    blended = words.copy()
    near = None
    if by_meaning:
        vectors = index.of_model(connection, model)
        near = nearness(connection, index, vectors, model, encoder_of(model).encode([text])[0],
                        top(words, _LOOKED_AT))
        nearest, scope = near.best, near.scope
        blended = _blend(words, near.score)
    best = top(blended, _LOOKED_AT)
    wanted = Wanted(weighed)
    matched = _matched(connection, index, wanted, best.tolist())
    total = sum(item.weight for item in weighed)
    for at, passages in matched.items():
        closest = max((weight for _, weight in passages), default=0.0) / total if total else 0.0
        words[at] = (1 - _PASSAGE_WEIGHT) * words[at] + _PASSAGE_WEIGHT * min(closest, 1.0)
    final = np.zeros(len(words), np.float32)
    final[best] = _blend(words, near.score)[best] if near else words[best]
    if by_meaning:
        answers = any(_answers(float(final[at]), float(words[at]), nearest[at][1] - scope if at in nearest else -1.0)
                      for at in best.tolist())
    else:
        answers = float(final.max(initial=0.0)) >= (_SURE if is_off_topic(text) else MIN_SCORE)
    return Scored(_with_relatives(index, final), matched, nearest, wanted, answers)


def _answers(final: float, words: float, nearer: float) -> bool:
    """Whether one record answers the sentence, `nearer` in meaning than the nearest topic out of scope."""
    if nearer > 0:
        return final >= max(MIN_BESIDE_SCOPE - nearer, MIN_WITH_MEANING)
    return final >= MIN_SCORE and words >= _SURE - nearer / 2


_SURE = 0.6
"""Words alone answer the query, if it is as near to a record as to a topic out of scope; the farther it is from the
record, the more they must answer of it."""


def _blend(words: F32, meaning: F32) -> F32:
    return np.asarray((1 - MEANING_WEIGHT) * words + MEANING_WEIGHT * np.maximum(meaning, 0), np.float32)


def _with_relatives(index: Index, final: F32) -> F32:
    raised = final.copy()
    for at in np.flatnonzero(final).tolist():
        related = index.relations.get(at)
        if related:
            raised[at] += _RELATED * max(float(final[other]) for other in related)
    return np.minimum(raised, 1.0)


def _matched(connection: sqlite3.Connection, index: Index, wanted: Wanted,
             positions: list[int]) -> dict[int, list[tuple[int, float]]]:
    found: dict[int, list[tuple[int, float]]] = {}
    for at, lines in zip(positions, lines_of(connection, index, positions), strict=True):
        weights = [(number, wanted.answered(line)) for number, line in enumerate(lines)
                   if not wanted.words.isdisjoint(line)]
        found[at] = [(number, weight) for number, weight in weights if weight]
    return found
