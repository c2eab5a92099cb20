"""Text into search terms, the same way for records and for queries.

Latin words are lower-cased (FTS5's porter tokenizer stems them later); `RMSNorm` also gives its parts, `split-k`
also gives `splitk`, British spellings become American. Chinese has no spaces and its words are mostly two
characters long, so runs of it become overlapping pairs.
"""

import re
import unicodedata
from functools import lru_cache

ANALYSIS_VERSION = 1
"""Raise it whenever `terms` gives something else for the same text: databases are then indexed anew."""

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CHUNK = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:[-_][^\W_{_CJK}]+)*")
_ASCII_CHUNK = re.compile(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*")
"""What `_CHUNK` finds where there is nothing else."""
_IS_CJK = re.compile(rf"[{_CJK}]")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_BRITISH = re.compile(r"is(e|ed|es|er|ing|ation|ations)$")


def terms(text: str) -> list[str]:
    """The search terms of a text, in order, repeats kept."""
    if text.isascii():
        return [term for chunk in _ASCII_CHUNK.findall(text) for term in _latin(chunk)]
    found: list[str] = []
    for chunk in _CHUNK.findall(unicodedata.normalize("NFKC", text)):
        found += pairs(chunk) if is_cjk(chunk) else _latin(chunk)
    return found


def is_cjk(term: str) -> bool:
    """Whether a term is Chinese."""
    return _IS_CJK.match(term) is not None


def pairs(run: str) -> list[str]:
    """Overlapping pairs of a run of Chinese characters; a single character stays alone."""
    return [run[at:at + 2] for at in range(len(run) - 1)] or [run]


@lru_cache(maxsize=50_000)
def _latin(chunk: str) -> tuple[str, ...]:
    parts = re.split("[-_]", chunk)
    found = [term for part in parts for term in _word(part)]
    if len(parts) == 2:
        found.append(_spelling("".join(parts).lower()))
    return tuple(found)


def _word(word: str) -> list[str]:
    if re.fullmatch("[A-Z]{2,}s", word):  # the plural of an acronym: SMs, CTAs
        return [word[:-1].lower()]
    camel = _CAMEL.findall(word)
    split = 1 < len(camel) <= 5 and min(map(len, camel)) > 1 and not any(part.isdigit() for part in camel)
    return [_spelling(term.lower()) for term in ([word, *camel] if split else [word])]


def _spelling(word: str) -> str:
    return _BRITISH.sub(r"iz\1", word) if len(word) > 5 else word
