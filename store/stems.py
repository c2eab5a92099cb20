"""Stems of words, by the porter tokenizer that comes with SQLite's full-text search."""

import sqlite3
import threading
from collections.abc import Iterable
from functools import lru_cache

TOKENIZER = "porter unicode61 remove_diacritics 2"
_MOST_KEPT = 100_000

_kept: dict[str, str] = {}
_lock = threading.Lock()


def stems(words: Iterable[str]) -> dict[str, str]:
    """The stem of each word; a phrase (words with spaces between) gives its words' stems with spaces between."""
    distinct = list(dict.fromkeys(words))
    with _lock:
        if len(_kept) > _MOST_KEPT:
            _kept.clear()
        new = [word for word in distinct if word not in _kept]
        if new:
            _kept.update(_stem(new))
        return {word: _kept[word] for word in distinct}


def _stem(words: list[str]) -> dict[str, str]:
    found: dict[int, list[str]] = {}
    tokenizer = _tokenizer()
    tokenizer.execute("BEGIN")
    try:
        tokenizer.executemany("INSERT INTO given (rowid, word) VALUES (?, ?)", enumerate(words))
        for row, stem in tokenizer.execute("SELECT doc, term FROM vocabulary ORDER BY doc, offset"):
            found.setdefault(row, []).append(stem)
    finally:
        tokenizer.execute("ROLLBACK")
    return {word: " ".join(found.get(row, [])) for row, word in enumerate(words)}


@lru_cache(maxsize=1)
def _tokenizer() -> sqlite3.Connection:
    """A table in memory that is empty between uses: making one takes longer than a query's words do."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute(f"CREATE VIRTUAL TABLE given USING fts5(word, content = '', tokenize = '{TOKENIZER}')")
    connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(given, instance)")
    return connection
