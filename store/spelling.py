"""A word that no record holds, read as one that some do: a letter too few, too many, another, or two exchanged."""

import sqlite3

LEAST_LETTERS = 6
"""Shorter words are too near to one another."""
_SAME_START = 2


def nearest_stem(connection: sqlite3.Connection, word: str, stem: str) -> str | None:
    """The stem in the index that is one slip away from that of `word` and starts as it does; None where there is none.
    """
    if len(word) < LEAST_LETTERS or len(stem) <= _SAME_START or not (stem.isascii() and stem.isalpha()):
        return None
    start = stem[:_SAME_START]
    rows = connection.execute(
        "SELECT term FROM postings WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ? ORDER BY term",
        (start, start[:-1] + chr(ord(start[-1]) + 1), len(stem) - 1, len(stem) + 1))
    return next((term for (term,) in rows if " " not in term and one_slip(stem, term)), None)


def one_slip(a: str, b: str) -> bool:
    """Whether one insertion, deletion, replacement or exchange of neighbours makes `a` into `b`."""
    if len(a) > len(b):
        a, b = b, a
    at = next((at for at, letter in enumerate(a) if letter != b[at]), len(a))
    if len(a) < len(b):
        return len(b) - len(a) == 1 and a[at:] == b[at + 1:]
    return a != b and (a[at + 1:] == b[at + 1:] or
                       (a[at:at + 2] == b[at:at + 2][::-1] and a[at + 2:] == b[at + 2:]))
