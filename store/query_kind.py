"""What a query is: a text in English or Chinese, code, profiler output, or a language that search does not know."""

from dataclasses import dataclass, replace

from .code_query import read_code
from .language import CHINESE, ENGLISH, language_of
from .profiler import read_profiler
from .query import MAX_CHARACTERS

MOST_DERIVED = 6
"""So many symptoms of one query are searched for at most, the strongest ones."""

_WORDS_OF_CODE = 0.5
"""What the identifiers of a snippet count where what it does is sure; they count the more the less that is."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One thing to search for."""

    text: str
    by_meaning: bool = True
    weight: float = 1.0
    derived: bool = False
    """True where it is ours, made from code or profiler output: it needs no proof that it is on the subject."""
    because: str | None = None
    """For a derived sentence: what in the query it comes from."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A query as it was understood."""

    kind: str
    """`text`, `chinese`, `code`, `profiler`, or `other_language`."""
    sentences: tuple[Sentence, ...]
    language: str | None = None


def read(query: str) -> Reading:
    """Understand a query. Any text is one; what says nothing has no sentences."""
    profiled = read_profiler(query)
    text = query[:MAX_CHARACTERS].strip()
    if profiled.is_table:
        return Reading("profiler", _derived(profiled.symptoms))
    language = language_of(text)
    own: tuple[Sentence, ...] = (Sentence(text, by_meaning=language != CHINESE),) if text else ()
    if profiled.symptoms:
        return Reading("profiler", own + _derived(profiled.symptoms))
    found = read_code(text)
    if found.is_code:
        surest = max((weight for _, weight, _ in found.symptoms), default=0.0)
        words = replace(own[0], by_meaning=found.has_prose, weight=1 - (1 - _WORDS_OF_CODE) * surest)
        return Reading("code", (words, *_derived(found.symptoms)))
    if language == CHINESE:
        return Reading("chinese", (Sentence(text, by_meaning=False),))
    if language != ENGLISH:
        return Reading("other_language", (), language)
    return Reading("text", own)


def _derived(symptoms: tuple[tuple[str, float, str], ...]) -> tuple[Sentence, ...]:
    strongest = sorted(symptoms, key=lambda symptom: -symptom[1])[:MOST_DERIVED]
    return tuple(Sentence(text, weight=weight, derived=True, because=because) for text, weight, because in strongest)
