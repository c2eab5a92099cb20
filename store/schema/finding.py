"""One piece of local feedback, and the refusal, used by every command."""

from typing import Any

from pydantic import Field

from .base import Record


class Place(Record):
    """Where something is: file, line range (1-based, inclusive), kernel, and what within it."""

    file: str | None = None
    """Path as the user gave it."""
    line: int | None = None
    """First line, 1-based."""
    end_line: int | None = None
    """Last line, 1-based, inclusive; absent for a single line."""
    kernel: str | None = None
    """Name of the `@triton.jit` function."""
    axis: str | None = None
    """Grid axis, as the kernel names it, for example `i_v`."""
    parameter: str | None = None
    """Launch parameter, for example `num_warps`."""
    workload: str | None = None
    """Label of the workload or input case."""


class Finding(Record):
    """What was seen, where, how it was measured, and what to try next.

    `code` is one of `skel.store.schema.codes.CODES`.
    """

    code: str
    message: str
    place: Place = Field(default_factory=Place)
    severity: str = "info"
    """`info`, `warning` or `error`."""
    measured: str | None = None
    """How it was found out: `analysis`, `compile sm_90`, `interpreter`, `cuda graph, cold L2`, ..."""
    compared_with: str | None = None
    """What the value is held against, for example `the original at 38 registers`."""
    hint: str | None = None
    """What to try next."""
    cost: str | None = None
    """What finding out more would cost, for example `one compile, about 0.5 s`."""
    data: dict[str, Any] = Field(default_factory=dict)
    """Figures behind the message, units in the keys."""


class Refusal(Record):
    """Why a primitive or skeleton does not apply here. `code` is stable and in the table of codes."""

    code: str
    line: int | None = None
    """The line at fault, 1-based."""
    lines: tuple[int, ...] = ()
    """Every line that matters, the one at fault first."""
    message: str
    hint: str | None = None
