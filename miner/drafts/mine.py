"""Drafts of one repository's history, from its commits to their admission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from skel.miner.history.cache import HistoryCache
from skel.miner.history.git import GitHistory
from skel.miner.history.mine import Progress, mine_history

from .admit import admit
from .cluster import cluster
from .corpus import Corpus
from .draft import Draft, draft
from .examples import Example, examples_of

UNRELATED = 150
"""Functions of the newest commit that every draft is tried on."""
MOST = 130
"""The best supported clusters become drafts."""


def mine_drafts(
    path: str | Path,
    cache: str | Path,
    refs: Sequence[str] = (),
    *,
    repository: str = "",
    progress: Progress | None = None,
) -> Iterator[Draft]:
    """Drafts of the clusters of a repository's history, the best supported first, each with its admission.

    Raises as `mine_history` does. `cache` is the file of `mine_history`; drafts read the functions themselves from it.
    """
    commits = list(mine_history(path, refs, cache, repository=repository, progress=progress))
    clusters = cluster(examples_of(commits))[:MOST]
    by_name = {c.commit: c for c in commits}
    with HistoryCache(cache) as kept, Corpus(GitHistory(path), kept, repository) as corpus:
        pool = list(corpus.unrelated(frozenset(), UNRELATED))
        for found in clusters:
            own = {(e.path, e.function) for e in found.examples}
            others = [v for place, v in pool if place not in own]

            def origins(example: Example) -> dict[str, str]:
                versions = corpus.pair(example)
                return dict(versions[0].origins) if versions is not None else {}

            made = draft(found, by_name, origins)
            yield made.model_copy(update={"admission": admit(found, corpus.pair, others)})
