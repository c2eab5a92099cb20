"""The tasks a worker can be given, by name: nothing else is ever run in one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .channel import Emit

Task = Callable[[dict[str, Any], Emit], dict[str, Any]]
"""Takes its payload and a way to report on the way; hands back plain JSON values."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a task's function is, and which programs it needs to start."""

    module: str
    """Its function is called `main`."""
    programs: tuple[str, ...] = ()


_COMPILERS = (
    *("ptxas", "ptxas-blackwell", "cuobjdump", "nvdisasm", "ld.lld", "gcc", "cc", "clang", "ldconfig"),
    *("file", "uname"),  # asked by `platform`, which Triton asks what it compiles on
)

TASKS: dict[str, Entry] = {
    "environment": Entry("skel.validation.environment", programs=("nvidia-smi",)),
    "original": Entry("skel.validation.numerics.original_task", programs=_COMPILERS),
    "candidate": Entry("skel.validation.numerics.candidate_task", programs=_COMPILERS),
    "substitute": Entry("skel.validation.numerics.substitute_task", programs=_COMPILERS),
    "judge_original": Entry("skel.validation.numerics.judge_original_task"),
    "judge_candidate": Entry("skel.validation.numerics.judge_candidate_task"),
    "judge_substitute": Entry("skel.validation.numerics.judge_substitute_task"),
    "witness": Entry("skel.validation.witness.task", programs=_COMPILERS),
    "sanitize": Entry("skel.validation.numerics.sanitizer", programs=(*_COMPILERS, "compute-sanitizer")),
    "compile": Entry("skel.validation.compile.task", programs=_COMPILERS),
    "time_baseline": Entry("skel.validation.timing.baseline_task", programs=(*_COMPILERS, "nvidia-smi")),
    "time_own": Entry("skel.validation.timing.own_task", programs=_COMPILERS),
    "time_verify": Entry("skel.validation.timing.verify_task", programs=_COMPILERS),
    "time_screen": Entry("skel.validation.timing.screen_task", programs=_COMPILERS),
    "time_final": Entry("skel.validation.timing.final_task", programs=_COMPILERS),
}


def warm(mode: str) -> None:
    """Imports, in the warm process, the modules of the mode's tasks and what they import when they first run."""
    names = ("compile",) if mode == "compile" else ("original", "candidate", "judge_original", "judge_candidate")
    for name in names:
        load(name)
    if mode != "compile":
        from ..numerics.device import warm as run_once

        run_once()


def load(name: str) -> Task:
    """The task's function. Raises KeyError for an unknown name."""
    entry = TASKS[name]
    task: Task = importlib.import_module(entry.module).main
    return task
