"""Learning from a repository's history: which kernels each commit changed, how, and what its message says of it."""

from .git import GitHistory, HistoryError
from .mine import MinedCommit, mine_commits, mine_history
from .model import Attribution, FunctionEdit, StatementEdit

__all__ = [
    "Attribution",
    "FunctionEdit",
    "GitHistory",
    "HistoryError",
    "MinedCommit",
    "StatementEdit",
    "mine_commits",
    "mine_history",
]
