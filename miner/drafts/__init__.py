"""Edits that recur, as templates; drafts of records made of them, and whether they may be kept."""

from .admit import admit
from .cluster import Cluster, cluster
from .corpus import Corpus
from .draft import Admission, Draft, draft
from .examples import Example, examples_of
from .known import known_drafts, read_drafts, write_drafts
from .mine import mine_drafts

__all__ = [
    "Admission",
    "Cluster",
    "Corpus",
    "Draft",
    "Example",
    "admit",
    "cluster",
    "draft",
    "examples_of",
    "known_drafts",
    "mine_drafts",
    "read_drafts",
    "write_drafts",
]
