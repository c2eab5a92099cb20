"""Numbers and units in running text."""

from __future__ import annotations

import re

from .model import Outcome, Quantity

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNITS = {
    r"ms": "ms",
    r"milliseconds?": "ms",
    r"[uµμ]s": "us",
    r"usecs?": "us",
    r"microseconds?": "us",
    r"ns": "ns",
    r"secs?": "s",
    r"seconds?": "s",
    r"s": "s",
    r"TFLOPS|TFLOP/s|TFlops|tflops|TFLOPs": "TFLOPS",
    r"GFLOPS|GFLOP/s": "GFLOPS",
    r"PFLOPS": "PFLOPS",
    r"TB/s": "TB/s",
    r"GB/s|GBps": "GB/s",
    r"MB/s": "MB/s",
    r"tok(?:en)?s?/s(?:ec)?": "tok/s",
    r"it/s": "it/s",
    r"req/s": "req/s",
    r"GiB|GB": "GB",
    r"MiB|MB": "MB",
    r"KiB|KB|kB": "KB",
    r"TOPS": "TOPS",
    r"registers|regs": "registers",
}
UNIT = "(?:" + "|".join(_UNITS) + r"|T)(?![A-Za-z])(?!/s)"
"""`T` alone stands for TFLOPS; it counts only in comparisons, where both sides have it."""
_BY_TEXT = {re.compile(f"(?:{pattern})\\Z"): unit for pattern, unit in _UNITS.items()}
_MORE_IS_BETTER = frozenset({"TFLOPS", "GFLOPS", "PFLOPS", "TB/s", "GB/s", "MB/s", "tok/s", "it/s", "req/s", "TOPS"})
SAME = 0.01
"""Closer than this counts as no difference."""


def number(text: str) -> float:
    """`1,024.5` as 1024.5."""
    return float(text.replace(",", ""))


def unit_name(text: str) -> str | None:
    """The common name of a unit; None for no unit."""
    if text == "T":
        return "TFLOPS"
    return next((unit for pattern, unit in _BY_TEXT.items() if pattern.match(text)), None)


def is_rate(unit: str) -> bool:
    """True where more is better."""
    return unit in _MORE_IS_BETTER


def outcome_of(before: Quantity, after: Quantity) -> Outcome:
    """Whether the second is better: shorter, smaller, or a higher rate."""
    if before.value <= 0 or before.unit != after.unit:
        return "unknown"
    change = after.value / before.value - 1
    if abs(change) < SAME:
        return "none"
    return "gain" if (change > 0) == is_rate(before.unit) else "loss"
