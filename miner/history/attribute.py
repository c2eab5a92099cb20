"""Which techniques a commit applies: what its code shows, weighed with what its message says."""

from __future__ import annotations

from collections.abc import Iterable

from .model import Attribution, FunctionEdit
from .signs import signs_of
from .view import Sign, View
from .words import words_of

MAX_BODY = 8_000
LEAST = 3
"""A score below this is no attribution: a hint alone, or words that the code does not bear out."""


def attribute(edits: Iterable[tuple[str, FunctionEdit]], message: str) -> tuple[Attribution, ...]:
    """Techniques with a score of at least `LEAST`, the likeliest first. Words alone never make one."""
    signs: dict[str, list[Sign]] = {}
    for sign in signs_of(View(tuple(edits))):
        signs.setdefault(sign.skeleton, []).append(sign)
    subject, _, body = message.partition("\n")
    found = [_attribution(skeleton, seen, subject, body[:MAX_BODY]) for skeleton, seen in signs.items()]
    kept = [a for a in found if a.score >= LEAST]
    return tuple(sorted(kept, key=lambda a: (-a.score, a.skeleton)))


def _attribution(skeleton: str, signs: list[Sign], subject: str, body: str) -> Attribution:
    strongest = max(s.strength for s in signs)
    seen = sorted({s.why for s in signs if s.strength == strongest})
    in_subject, in_body = words_of(skeleton, subject), words_of(skeleton, body)
    # one more where the same sign is on many functions: then the commit is about it
    score = strongest + (1 if len(signs) >= 4 else 0) + (2 if in_subject else 0) + (1 if in_body else 0)
    for_it, against = sum(s.adds for s in signs), sum(not s.adds for s in signs)
    return Attribution(
        skeleton=skeleton,
        score=score,
        code=tuple(seen[:6]),
        words=tuple(dict.fromkeys((*in_subject, *in_body))),
        adds=for_it >= against,
    )
