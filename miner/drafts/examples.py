"""Edits of single statements, taken from mined commits and cut down to what changed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from skel.miner.history.mine import MinedCommit
from skel.miner.history.model import StatementEdit
from skel.miner.history.tokens import tokens_of

from .reduce import reductions
from .terms import HEADS, Term, parse, show, size, tree_of

LARGEST = 120
"""Nodes of the largest part that is generalised; larger edits are restructurings, which no template describes."""


@dataclass(frozen=True, slots=True)
class Example:
    """The smallest changed part of one statement, and where it is from."""

    repository: str
    commit: str
    path: str
    function: str
    kernel: bool
    before: Term
    after: Term
    removed: tuple[str, ...]
    """API tokens that only the old part has, and numbers that moved, sorted; each once."""
    added: tuple[str, ...]

    @property
    def place(self) -> tuple[str, str, str]:
        """What is counted as one kernel, or one host function."""
        return self.repository, self.path, self.function


def examples_of(commits: Iterable[MinedCommit]) -> Iterator[Example]:
    """Every small edit that changes an API token or moves a tile, a stage count or a warp count. Reverts and routine
    commits give none."""
    for commit in commits:
        if commit.routine or commit.reverts:
            continue
        for place in commit.edits:
            edit = place.edit
            if edit.kind == "cuda" or edit.before is None or edit.after is None:
                continue
            for statement in edit.statements:
                for before, after, removed, added in changed_parts(statement, edit.kind == "kernel"):
                    yield Example(
                        commit.repository,
                        commit.commit,
                        place.path,
                        edit.name,
                        edit.kind == "kernel",
                        before,
                        after,
                        removed,
                        added,
                    )


def changed_parts(
    statement: StatementEdit, kernel: bool
) -> Iterator[tuple[Term, Term, tuple[str, ...], tuple[str, ...]]]:
    """The smallest changed parts of a statement with the tokens that each loses and gains."""
    if not statement.before or not statement.after:
        return
    old, new = parse(statement.before), parse(statement.after)
    if old is None or new is None:
        return
    moved = {t for t in statement.added if t.endswith(("_raised", "_lowered"))}
    for before, after in reductions(old, new):
        if isinstance(before, str) or isinstance(after, str) or max(size(before), size(after)) > LARGEST:
            continue
        had, has = _tokens(before, kernel), _tokens(after, kernel)
        removed, added = tuple(sorted(had - has)), tuple(sorted((has - had) | moved))
        if removed or added:
            yield before, after, removed, added


def _tokens(term: Term, kernel: bool) -> set[str]:
    if isinstance(term, str):
        return set()
    if term[0] in HEADS:
        constexpr = {"constexpr"} if term[0] == "Parameter" and "constexpr" in show(term) else set[str]()
        return constexpr.union(*(_tokens(c, kernel) for c in term[1:]))
    tree = tree_of(term)
    return set(tokens_of(tree, kernel=kernel)) if isinstance(tree, ast.AST) else set()
