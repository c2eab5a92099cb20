"""A number that an author states, with what it belongs to."""

from __future__ import annotations

from typing import Literal

from skel.store.schema.base import Record

Outcome = Literal["gain", "loss", "none", "unknown"]


class Quantity(Record):
    """A number with its unit, as stated."""

    value: float
    unit: str
    """`ms`, `us`, `s`, `ns`, `TFLOPS`, `GFLOPS`, `GB/s`, `TB/s`, `tok/s`, `MB`, `GB`, `KB`, ..."""


class Claim(Record):
    """One statement of a message. At least one number is there."""

    text: str
    """The words around the numbers, at most 200 characters."""
    before: Quantity | None = None
    after: Quantity | None = None
    value: Quantity | None = None
    """A figure with nothing to compare it to, such as a throughput that was reached."""
    ratio: float | None = None
    """`1.59` for `1.59x`."""
    ratio_low: float | None = None
    """The lower end, where a range is stated: `1.4` for `1.40-1.59x`."""
    percent: float | None = None
    """`12.3` for `+12.3 %`; negative where the message has a minus."""
    percent_low: float | None = None
    """The end nearer zero, where a range is stated."""
    shape: str | None = None
    """`B=4 T=2048 D=4096`, or `4096x2112x7168`."""
    gpu: str | None = None
    dtype: str | None = None
    outcome: Outcome = "unknown"
