"""Processes told apart by id and start time."""

from __future__ import annotations

from pathlib import Path


def started(process: int) -> float | None:
    """When a process started, in clock ticks since the boot; None where there is none (or it only waits to be reaped).

    proc(5), /proc/pid/stat, fields 3 and 22.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else float(fields[19])


def is_alive(process: int, started_at: float) -> bool:
    """Whether this very process still runs."""
    return started(process) == started_at
