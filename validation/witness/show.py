"""Shows hazards: launches kernels alone on small inputs, in workers, and says what each launch showed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skel.rewriter.kernel.package_slice import slice_package
from skel.rewriter.reasons import Refuse

from ..isolation import Workers
from ..subject import SlicedModule, SliceSpec, Subject, module_name
from ..workloads.target import in_package

FINDING_SECONDS = 10.0
"""Wall clock for all launches of one finding."""
FILE_SECONDS = 30.0
"""Wall clock for what a file takes besides its findings."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of one file: its text and path, the kernels that are launched, and the plans of each finding."""

    path: str
    text: str
    kernels: tuple[str, ...]
    plans: Sequence[Sequence[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Answered:
    """What shows one finding, or why nothing does."""

    shown: dict[str, Any] | None = None
    why: str | None = None


def show(asked: Sequence[Asked], done: Callable[[str], None] = lambda path: None) -> list[list[Answered]]:
    """The answers, in the order of the files and of each one's findings; `done` is told each file.

    Raises WorkerError where no worker can start here.
    """
    answers: list[list[Answered]] = [[] for _ in asked]
    with Workers("interpret") as workers:
        workers.ready()
        futures = {}
        for place, one in enumerate(asked):
            try:
                subject = subject_alone(one)
            except Refuse as refused:
                why = f"it could not be launched alone: {refused.refusal.message}"
                answers[place] = [Answered(why=why) for _ in one.plans]
                continue
            payload = {"subject": subject.to_dict(), "plans": one.plans, "seconds": FINDING_SECONDS}
            seconds = FILE_SECONDS + FINDING_SECONDS * len(one.plans)
            future = workers.submit(
                "witness", payload, folder=workers.folder("witness"), seconds=seconds, subject_file=one.path)
            futures[future] = place
        for future in as_completed(futures):
            place, outcome = futures[future], future.result()
            told = {event["number"]: Answered(event["shown"], event["why"]) for event in outcome.all("answered")}
            ended = "; ".join(f"{fact['code']}: {fact['fields'].get('error', '')}" for fact in outcome.facts("it"))
            lost = Answered(why=f"it could not be launched alone: {ended.strip() or 'its worker ended'}")
            answers[place] = [told.get(number, lost) for number in range(len(asked[place].plans))]
            done(asked[place].path)
    return answers


def subject_alone(asked: Asked) -> Subject:
    """The slice that the kernels need, for a worker: no other statement of the file is run.

    Raises Refuse where it needs what is not here.
    """
    target = in_package(Path(asked.path).absolute())
    root, relative = target.root or target.path.parent, target.relative or target.path.name
    own = module_name(asked.path)
    module = target.module or (own if importlib.util.find_spec(own) is None else f"skel_target_{own}")
    sliced = slice_package(root, module, relative, asked.text, asked.kernels)
    others = tuple(SlicedModule(m.module, m.path, m.text, m.is_package) for m in sliced.modules[1:])
    return Subject(asked.text, asked.path, module, None, SliceSpec(asked.kernels, relative, others))
