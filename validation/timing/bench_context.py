"""What the timing tasks share: the payload read, the versions loaded, inputs made, runs recorded."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..environment import machine
from ..isolation.channel import Emit
from ..numerics.device import prepare
from ..protocol import Protocol
from ..subject import Subject
from ..workloads import label_of, parameters_of
from .clocks import Clocks
from .prepared import Prepared
from .recording import Launch
from .timers import TIMERS, Timer
from .variants import Run, Variant, copied_inputs, load_variant, run_variant, timed_kernels

SCREENING_SEED = 0


@dataclass(slots=True)
class Context:
    """One timing task at work."""

    numbers: Protocol
    subject: Subject
    kernel: str | None
    device: str
    timer: Timer
    clocks: Clocks
    original: Variant
    emit: Emit
    rng: random.Random
    loaded: dict[str, Variant] = field(default_factory=dict)

    def parameters(self, label: str) -> dict[str, Any]:
        """Keyword arguments of the workload. Raises KeyError for an unknown label."""
        for workload in self.original.hooks.workloads_for(self.device):
            if label_of(workload) == label:
                return parameters_of(workload)
        raise KeyError(f"there is no workload {label!r}")

    def labels(self) -> list[str]:
        return [label_of(workload) for workload in self.original.hooks.workloads_for(self.device)]

    def inputs(self, label: str, seed: int) -> Any:
        """Inputs by the original's hooks: candidates are never asked for them."""
        import torch

        torch.manual_seed(seed)
        with self.original.active():
            return self.original.hooks.inputs(seed, self.device, self.parameters(label))

    def load(self, given: Mapping[str, Any]) -> Variant:
        """A candidate (name, text, exact), in a folder of its own, once. Its path and hash are reported."""
        name = given["name"]
        if name not in self.loaded:
            self.emit("begin", what=f"importing {name}", candidate=name)
            folder = Path.cwd() / f"version-{len(self.loaded)}"
            variant = load_variant(name, self.subject.with_text(given["text"]), folder, exact=given["exact"])
            self.emit("candidate_loaded", name=name, **variant.loaded.facts())
            self.loaded[name] = variant
        return self.loaded[name]

    def run_original(self, inputs: Any, variant: Variant | None = None) -> Run:
        """The original (or another configuration of it) on a copy of `inputs`. All its kernels are recorded; those that
        count are chosen when it is known what it is compared with."""
        return self._tuned(variant or self.original, inputs, [self.kernel] if self.kernel else None)

    def run_pair(self, inputs: Any, candidate: Variant) -> tuple[Run, Run]:
        """Original and candidate on copies of `inputs`, with the launches of both that count."""
        return self._against(self._tuned(self.original, inputs, None), inputs, candidate)

    def _against(self, first: Run, inputs: Any, candidate: Variant) -> tuple[Run, Run]:
        """The original's run, and the candidate's on a copy of the same inputs."""
        first = replace(first)
        second = self._tuned(candidate, inputs, None)
        names, own = timed_kernels(self.kernel, first.recorded, second.recorded)
        first.launches, second.launches = _only(first, names), _only(second, own)
        return first, second

    def run_together(
        self, label: str, inputs: Any, candidates: Sequence[Mapping[str, Any]], originals: Mapping[str, Variant]
    ) -> tuple[dict[str, Run], dict[str, Run]]:
        """Everyone's run on copies of `inputs`, by name, and the original's run that each was compared with.

        `originals` are further versions of the original. Of all originals those kernels count that any candidate's
        original had counted.
        """
        everything = self._tuned(self.original, inputs, None)
        first = replace(everything, launches=_only(everything, [self.kernel] if self.kernel else None))
        runs, others = {"original": first}, {}
        for name, variant in originals.items():
            runs[name], others[name] = self.run_original(inputs, variant), first
        for given in candidates:
            variant = self.load(given)
            self.emit("begin", what=f"running {given['name']} on {label}", candidate=given["name"], workload=label)
            others[given["name"]], runs[given["name"]] = self._against(everything, inputs, variant)
        counting = {launch.kernel for other in others.values() for launch in other.launches} or None
        for name in ("original", *originals):
            runs[name].launches = _only(runs[name], sorted(counting) if counting else None)
        return runs, others

    def prepare_all(self, label: str, runs: Mapping[str, Run]) -> dict[str, Prepared]:
        """Everyone made ready to be timed."""
        prepared = {}
        for name, run in runs.items():
            self.emit("begin", what=f"preparing {name} on {label}", candidate=name, workload=label)
            prepared[name] = Prepared(run, self.timer, self.numbers)
        self.emit("begin", what=f"sampling {label}", workload=label)
        return prepared

    def _tuned(self, variant: Variant, inputs: Any, timed: list[str] | None) -> Run:
        """Runs twice: the first time compiles, and autotunes where there is something to tune."""
        run_variant(variant, copied_inputs(inputs), timed)
        run = run_variant(variant, copied_inputs(inputs), timed)
        self.timer.synchronize()
        return run


def context_of(payload: Mapping[str, Any], emit: Emit) -> Context:
    """Takes hold of the clock first, then loads the original."""
    device = payload["device"]
    prepare(device)
    timer = TIMERS[payload["timer"]]()
    numbers = Protocol.from_dict(payload["numbers"])
    subject = Subject.from_dict(payload["subject"])
    emit("machine", environment=machine(), timer=timer.name)
    emit("begin", what="importing the original")
    original = load_variant("original", subject, Path.cwd() / "original")
    emit("original_loaded", **original.loaded.facts())
    clocks = Clocks(device.startswith("cuda"))
    return Context(
        numbers, subject, payload["kernel"], device, timer, clocks, original, emit, random.Random(payload["seed"])
    )


def _only(run: Run, names: list[str] | None) -> list[Launch]:
    chosen = [one for one in run.recorded.launches if names is None or one.kernel in names]
    if not chosen:
        raise RuntimeError(f"{run.variant.name} does not launch the kernel that is timed")
    return chosen
