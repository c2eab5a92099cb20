"""Words by which messages name techniques; the words themselves are data, in words.yaml."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

import yaml


@lru_cache(maxsize=1)
def patterns() -> dict[str, re.Pattern[str]]:
    """One expression for each technique that messages have words for."""
    text = files(__package__).joinpath("words.yaml").read_text(encoding="utf-8")
    return {skeleton: re.compile("|".join(words), re.IGNORECASE) for skeleton, words in yaml.safe_load(text).items()}


def words_of(skeleton: str, text: str) -> tuple[str, ...]:
    """What a text says that names the technique, in order, each once; at most four."""
    pattern = patterns().get(skeleton)
    if pattern is None:
        return ()
    return tuple(dict.fromkeys(m[0].lower() for m in pattern.finditer(text)))[:4]
