"""The plan of what is run: seeds, value classes and shape variations, workload by workload."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..protocol import Correctness
from ..workloads import Hooks, label_of, parameters_of
from .values import VALUE_CLASSES, VALUE_CLASSES_FULL

Kind = Literal["declared", "stress", "shape"]


@dataclass(frozen=True, slots=True)
class Case:
    """One input: a workload's parameters, a seed, a value class. `kind` says how strictly it counts.

    `declared` cases must be right. `stress` cases (scaled or constant values) and `shape` cases (varied sizes) count
    only where the original itself can take them.
    """

    id: str
    workload: str
    parameters: dict[str, Any]
    seed: int
    values: str
    kind: Kind
    reruns: int
    """Runs of this case; the last has another filling of foreign memory where there is more than one."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def label(self) -> str:
        """The case in words, for findings."""
        return f"{self.workload}, seed {self.seed}, {self.values} values"


def plan(hooks: Hooks, device: str, full: bool, numbers: Correctness) -> list[Case]:
    """Every case, declared ones first and varied shapes last, since those may end the process."""
    thorough = full or device.startswith("cuda")
    seeds = seeds_of(thorough, numbers)
    reruns = numbers.reruns_full if thorough else numbers.reruns
    cases: list[Case] = []
    varied: list[Case] = []
    for workload in hooks.workloads_for(device):
        label, parameters = label_of(workload), parameters_of(workload)
        for seed in seeds:
            cases.append(_case(cases, label, parameters, seed, "normal", "declared", reruns if seed == seeds[0] else 1))
        for values in VALUE_CLASSES_FULL if full else VALUE_CLASSES:
            for seed in seeds if full else seeds[:1]:
                cases.append(_case(cases, label, parameters, seed, values, "stress", 1))
    for changed in shape_variations(hooks, device, full, numbers):
        varied.append(_case(cases + varied, label_of(changed), changed, seeds[0], "normal", "shape", 2))
    return cases + varied


def seeds_of(full: bool, numbers: Correctness) -> tuple[int, ...]:
    """The fixed seeds, and last one that nobody could know beforehand; it is logged with the case."""
    count = numbers.seeds_full if full else numbers.seeds
    return (*numbers.fixed_seeds[: count - 1], secrets.randbelow(2**31))


def shape_variations(hooks: Hooks, device: str, full: bool, numbers: Correctness) -> list[dict[str, Any]]:
    """Workload parameters with sizes changed to what is no power of two: all at once, which tries every mask, then one.

    By default the largest of the sizes that the workloads name is varied alone, as that is where the tiles are.
    """
    workloads = [parameters_of(workload) for workload in hooks.workloads_for(device)]
    base = workloads[0]
    sizes = hooks.integer_defaults() | {key: value for key, value in base.items() if type(value) is int}
    order = sorted(
        (key for key in sizes if sizes_near(sizes[key], full)), key=lambda key: (key not in base, -sizes[key])
    )
    found: list[dict[str, Any]] = []
    if len(order) > 1:
        found.append(
            {**base, **{key: sizes_near(sizes[key], False)[0] for key in order if sizes_near(sizes[key], False)}}
        )
    for key in order if full else order[: numbers.varied_dimensions]:
        for size in sizes_near(sizes[key], full):
            changed = {**base, key: size}
            if changed not in workloads and changed not in found:
                found.append(changed)
    return found


def sizes_near(size: int, full: bool) -> list[int]:
    """Sizes near one: 3/4 plus 1, which is no power of two and leaves one element for a last tile; with `full` also
    the neighbours, and half with its neighbour."""
    sizes = [3 * size // 4 + 1]
    if full:
        sizes += [size + 1, size - 1, size // 2, size // 2 + 1]
    return [s for s in dict.fromkeys(sizes) if s > 0 and s != size]


def _case(
    before: list[Case], label: str, parameters: Mapping[str, Any], seed: int, values: str, kind: Kind, reruns: int
) -> Case:
    return Case(f"c{len(before):03d}", label, dict(parameters), seed, values, kind, reruns)
