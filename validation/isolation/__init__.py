"""Isolation: candidates run in processes of their own, under limits, and what they do is believed from outside only.

`Workers` (main process) talks to one *warm process* a mode, which has imported torch and triton and never any code of
a candidate. It forks a worker for each task; the worker gives up its rights, loads the candidate, and reports over a
pipe of its own.
"""

from .outcome import Outcome
from .workers import WorkerError, Workers

__all__ = ["Outcome", "WorkerError", "Workers"]
