"""Stems of words, taken from FTS5 itself so that they are always those of the index."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing

TOKENIZER = "porter unicode61 remove_diacritics 2"


def stems(words: Iterable[str]) -> dict[str, str]:
    """The stem of each word; a phrase (words with spaces between) gives its words' stems with spaces between."""
    distinct = list(dict.fromkeys(words))
    found: dict[int, list[str]] = {}
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE VIRTUAL TABLE given USING fts5(word, tokenize = '{TOKENIZER}')")
        connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(given, instance)")
        connection.executemany("INSERT INTO given (rowid, word) VALUES (?, ?)", enumerate(distinct))
        for row, stem in connection.execute("SELECT doc, term FROM vocabulary ORDER BY doc, offset"):
            found.setdefault(row, []).append(stem)
    return {word: " ".join(found.get(row, [])) for row, word in enumerate(distinct)}
