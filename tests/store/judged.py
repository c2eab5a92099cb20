"""Queries with the skeletons that answer them, and the figure that a search engine gets on them."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from skel.store.database import Database
from skel.store.search import search

OWN = Path(__file__).with_name("queries.jsonl")
EVALUATION = Path(__file__).parents[1] / "eval" / "queries_dev.jsonl"


@dataclass(frozen=True)
class Judged:
    """A query; `relevant` grades skeletons, 2 for the one meant, 1 for one that is clearly useful."""

    query: str
    relevant: dict[str, int]
    kind: str
    held: bool


@dataclass(frozen=True)
class Figures:
    """The mean nDCG@5 of the queries that have an answer, by kind and of all, and the others that got hits."""

    ndcg: float
    by_kind: dict[str, float]
    answered: tuple[str, ...]
    silent: int
    """Number of queries without an answer."""


def judged(path: Path) -> list[Judged]:
    """The queries of a file."""
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [Judged(line["query"], line["relevant"], line["kind"], line.get("held", False)) for line in lines]


def ndcg(names: list[str], relevant: dict[str, int], at: int = 5) -> float:
    """Normalised discounted cumulative gain with exponential gains (Burges et al. 2005)."""
    def gain(grades: Iterable[int]) -> float:
        return sum((2 ** grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(grades))

    return gain(relevant.get(name, 0) for name in names[:at]) / gain(sorted(relevant.values(), reverse=True)[:at])


def measure(database: Database, queries: Iterable[Judged]) -> Figures:
    """Ask every query."""
    by_kind: dict[str, list[float]] = {}
    answered, silent = [], 0
    for item in queries:
        names = [hit.name for hit in search(database, item.query, 5)]
        if item.relevant:
            by_kind.setdefault(item.kind, []).append(ndcg(names, item.relevant))
        else:
            silent += 1
            answered += [item.query] if names else []
    every = [value for values in by_kind.values() for value in values]
    means = {kind: sum(values) / len(values) for kind, values in by_kind.items()}
    return Figures(sum(every) / len(every), means, tuple(answered), silent)
