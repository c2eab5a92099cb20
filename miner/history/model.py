"""What a commit did to the functions of one file, and what that amounts to."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skel.store.schema.base import Record


class StatementEdit(Record):
    """One statement, or the head of a compound one, before and after. Texts are canonical: calls are resolved to the
    language's names, formatting and comments are gone, and names that the commit merely renamed are the new ones."""

    before: str | None = None
    """None where the statement is new."""
    after: str | None = None
    """None where it was dropped."""
    removed: tuple[str, ...] = ()
    """API tokens that only the old statement has, sorted."""
    added: tuple[str, ...] = ()
    """API tokens that only the new statement has, sorted."""


class FunctionEdit(Record):
    """One function that changed in more than names and formatting."""

    name: str
    """Qualified name after the commit, or before it where the function was dropped."""
    kind: Literal["kernel", "host", "module", "cuda"]
    """`kernel`: a Triton `@jit` function with its decorators; `host`: any other function of a file with kernels;
    `module`: statements of the file itself; `cuda`: a file of CUDA or C++ as a whole."""
    before: str | None = None
    """Hash of the canonical form before; None where the function is new."""
    after: str | None = None
    """Hash of the canonical form after; None where it was dropped."""
    parameters_added: tuple[str, ...] = ()
    parameters_removed: tuple[str, ...] = ()
    removed: dict[str, int] = Field(default_factory=dict)
    """API tokens that became fewer, by how many."""
    added: dict[str, int] = Field(default_factory=dict)
    """API tokens that became more, by how many."""
    lost: tuple[str, ...] = ()
    """Facts that held before and hold no more."""
    gained: tuple[str, ...] = ()
    """Facts that hold after and did not before."""
    statements: tuple[StatementEdit, ...] = ()
    """Only where the function is on both sides."""
    parameters: tuple[str, ...] = ()
    """All parameters of a function that is new."""


class FileEdit(Record):
    """What one commit did to one file."""

    functions: tuple[FunctionEdit, ...] = ()
    note: str | None = None
    """Why the file, or one of its sides, could not be read."""


class Attribution(Record):
    """A technique that a commit seems to apply, and why."""

    skeleton: str
    score: int
    """What the code shows counts 1 to 4, the subject 2, the body 1. Higher is surer."""
    code: tuple[str, ...] = ()
    """What the change shows, in words."""
    words: tuple[str, ...] = ()
    """Words of the message that name it."""
    adds: bool = True
    """False where the commit takes the technique out."""
