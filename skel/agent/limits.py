"""Every number of the agent backend, once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one session may take."""

    argument_bytes: int = 512 * 1024
    """Most JSON of one call."""
    file_bytes: int = 512 * 1024
    """Largest source file that is read."""
    capture_bytes: int = 256 << 20
    """Largest capture that is written or taken as a workload."""
    open_calls: int = 256
    """Most calls that one server answers at a time."""
    waiting_jobs: int = 32
    """Most jobs in the queue of one database."""
    running_jobs: int = 2
    """Most jobs at a time, whoever asked for them; on a GPU one."""
    job_seconds: float = 3600.0
    """Most wall clock for one job."""
    result_bytes: int = 4 << 20
    """Largest document of a job."""
    view_bytes: int = 6000
    """Most JSON of one answer; the rest is had by reference."""
    part_bytes: int = 12_000
    """Most text of one part of a job."""


LIMITS = Limits()
HANDLE_SECONDS = 1.0
"""How long a call waits for its job by default: a handle comes within two seconds."""
MOST_WAIT_SECONDS = 50.0
"""How long a call may wait at most: clients give up after a minute."""
LOOK_SECONDS = 0.5
"""How often a session sees at most whether jobs are lost or wait for a process."""
POLL_SECONDS = 0.1
"""How soon a waiting call looks at its job again; the longer it has waited, the later."""


def pause_after(waited: float) -> float:
    """Seconds until a call that has waited so long looks again: two hundred of them must not keep a disk busy."""
    return min(POLL_SECONDS * (1 + waited), 0.5)
