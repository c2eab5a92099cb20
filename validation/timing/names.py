"""Names that samples are kept under."""

from __future__ import annotations

from typing import Literal

Mode = Literal["cold", "warm"]
MODES: tuple[Mode, ...] = ("cold", "warm")
CONTROL = "control"
OWN = "own"
"""The original once more, and the original in its own best configuration."""
RESERVED = ("original", CONTROL, OWN)
"""No candidate may be called so."""
