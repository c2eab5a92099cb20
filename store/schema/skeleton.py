"""The skeleton record: an optimization an expert once made by hand, taken apart so a program can use it."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import Record
from .words import Kind, NumericsClass, Purpose

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,63}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Scalar = str | int | float | bool


class Step(Record):
    """One primitive of a schedule, with its arguments. An argument `$NAME` is filled in by a decision."""

    primitive: Name
    """Name of a primitive in `rewriter/primitives/`."""
    arguments: dict[Name, Scalar] = Field(default_factory=dict)
    """Keyword arguments of the primitive; plain scalars only, never code."""
    when: dict[Name, Scalar] = Field(default_factory=dict)
    """Decisions for which this step is taken, for example `form: loop`; empty for every candidate."""


class Decision(Record):
    """A choice that tuning fills in: the schedule fixes what is done, a decision how much of it."""

    name: Name
    values: tuple[Scalar, ...] = ()
    """The values that may be taken; empty where the rewriter enumerates them from the kernel's facts."""
    description: Text


class Limit(Record):
    """A resource bound on one architecture (`sm_90`, `gfx942`, or `any`)."""

    architecture: str = "any"
    registers_per_thread: int | None = None
    """Most registers a thread may use."""
    state_registers_per_thread: int | None = None
    """Most fp32 registers a thread may hold of the tile: tile elements / (32 x num_warps)."""
    spill_bytes_per_thread: int | None = None
    """Most bytes a thread may spill; 0 means none."""
    shared_memory_bytes: int | None = None
    """Most shared memory a program may use."""
    note: Text | None = None
    """A limit that is no number."""


class Numerics(Record):
    """How far the rewrite may move results, and why."""

    result: NumericsClass
    why: Text


class Interactions(Record):
    """How this skeleton stands to others, by name."""

    competes_with: tuple[Name, ...] = ()
    enables: tuple[Name, ...] = ()
    conflicts_with: tuple[Name, ...] = ()
    requires: tuple[Name, ...] = ()


class Claim(Record):
    """What a source says of the technique: a hypothesis until it is measured here. Good and bad alike."""

    statement: Text
    outcome: Literal["gain", "loss", "none", "fix"]
    source: Text
    """Repository and commit, pull request or file that says it."""
    before: str | None = None
    """The figure before, with its unit."""
    after: str | None = None
    """The figure after, with its unit."""
    ratio: float | None = None
    """Before over after in time (above 1 is faster)."""
    hardware: str | None = None


class Source(Record):
    """A place where the technique is seen, with the licence of the repository it is in."""

    repository: Text
    revision: Text
    """Commit, tag or package version."""
    path: Text
    lines: str | None = None
    """Line or line range, for example `62` or `85-99`."""
    licence: Text
    """SPDX identifier."""
    role: Literal["uses", "could_use", "fixes"] = "uses"


class Case(Record):
    """A small file beside the record that the tests hold it to."""

    file: Annotated[str, StringConstraints(pattern=r"^cases/[A-Za-z0-9_.-]+\.py$")]
    """The kernel before."""
    expect: Literal["rewrite", "refuse"]
    after: Annotated[str, StringConstraints(pattern=r"^cases/[A-Za-z0-9_.-]+\.py$")] | None = None
    """The golden result, for `rewrite`."""
    refusal: Name | None = None
    """The code, for `refuse`."""
    settings: dict[Name, Scalar] = Field(default_factory=dict)
    """Decisions pinned for this case, as `--set` does."""


class Symptoms(Record):
    """How a user would say it, before knowing the technique's name; one sentence each."""

    en: tuple[Text, ...]
    zh: tuple[Text, ...] = ()


class Skeleton(Record):
    """A complete skeleton record. An empty schedule makes it advice: found and reported, never applied."""

    name: Name
    title: Text
    summary: Text
    """What is changed and why it helps, in two or three sentences."""
    symptoms: Symptoms
    tags: tuple[str, ...] = ()
    kind: Kind
    purpose: Purpose = Purpose.SPEED
    applies_if: tuple[Text, ...] = ()
    """The conditions in words, for readers and search."""
    conditions: tuple[Name, ...] = ()
    """Machine-checked conditions by name, in `rewriter/conditions/`."""
    schedule: tuple[Step, ...] = ()
    decisions: tuple[Decision, ...] = ()
    limits: tuple[Limit, ...] = ()
    numerics: Numerics
    interactions: Interactions = Field(default_factory=Interactions)
    evidence: tuple[Claim, ...] = ()
    sources: tuple[Source, ...] = ()
    cases: tuple[Case, ...] = ()

    @property
    def is_advice(self) -> bool:
        """True where there is nothing to apply."""
        return not self.schedule
