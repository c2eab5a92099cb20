"""Decisions from screening samples: who goes on to the finals, and which variant is chosen where. Pure.

They are judged on fresh samples afterwards, so that a lucky outlier chosen here shows as what it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from ..protocol import Timing
from .copies import kernel_copies
from .lines import Line
from .plan import Plan
from .state import State
from .statistics import median

Ratios = dict[str, dict[str, float]]
"""Candidate to workload to ratio, original over candidate; missing where it was not timed there."""


def screened_ratios(plan: Plan, state: State, mode: str = "cold") -> Ratios:
    """Median ratios of every candidate that was right, within limits, and timed, with all its work in the launches."""
    found: Ratios = {}
    for one in plan.candidates:
        for label in state.workloads:
            line = state.last("screened", candidate=one.name, workload=label)
            if line is not None and timeable(state, one.name, label):
                found.setdefault(one.name, {})[label] = line_ratio(line, mode, one.name)
    return found


def timeable(state: State, candidate: str, label: str) -> bool:
    """True where the candidate was verified on the workload and nothing speaks against timing it."""
    line = state.last("verified", candidate=candidate, workload=label)
    return (
        line is not None and not line["facts"] and not line["untimed"] and not failed_in(state, candidate, label)
    )


def failed_in(state: State, candidate: str, label: str) -> bool:
    """True where a process ended on that candidate and workload."""
    return state.last("failed", candidate=candidate, workload=label) is not None


def line_ratio(line: Line, mode: str, name: str) -> float:
    """The median of the ratios, pair by pair."""
    samples = line[mode]
    return median([a / b for a, b in zip(samples["original"], samples[name], strict=True)])


def pending_checks(state: State, candidate: str) -> list[str]:
    """Labels on which the candidate was not yet held against the original."""
    return [
        label
        for label in state.workloads
        if not state.last("verified", candidate=candidate, workload=label) and not failed_in(state, candidate, label)
    ]


def pending_screening(plan: Plan, state: State) -> dict[str, list[str]]:
    """By candidate the labels on which it is still to be timed."""
    found: dict[str, list[str]] = {}
    for one in plan.candidates:
        for label in state.workloads:
            if timeable(state, one.name, label) and not state.last("screened", candidate=one.name, workload=label):
                found.setdefault(one.name, []).append(label)
    return found


def over_limits(plan: Plan, state: State) -> dict[str, set[str]]:
    """By candidate the workloads where nothing but the limits speaks against it (other dtypes need more registers)."""
    found: dict[str, set[str]] = {}
    for one in plan.candidates:
        for label in state.workloads:
            line = state.last("verified", candidate=one.name, workload=label)
            if line is not None and line["facts"] and all(fact["code"] == "spills" for fact in line["facts"]):
                found.setdefault(one.name, set()).add(label)
    return found


def assignment(
    ratios: Ratios,
    workloads: Sequence[str],
    numbers: Timing,
    over: Mapping[str, set[str]] | None = None,
    copies: Mapping[str, str | None] | None = None,
) -> dict[str, str | None]:
    """By workload the variant to run there, None for the original; at most `variants` distinct ones.

    `copies` says which kernel text a candidate needs beside the original's (see `kernel_copies`): variants that differ
    in the launcher only share it, and at most `kernel_copies` of these texts are taken. Where it says nothing, each
    candidate counts as one. Of all small enough sets the one with the best geometric mean, where each workload takes
    the best of the set and the original; a larger set must be better by the factor `variant_gain`. A candidate that is
    wrong or fails somewhere is chosen nowhere; one that is `over` the limits on some may be chosen on the others.
    """
    fine = over or {}
    whole = sorted(
        name
        for name, by_label in ratios.items()
        if all(label in by_label or label in fine.get(name, ()) for label in workloads)
    )
    needs = {name: (copies or {}).get(name, name) for name in whole}
    chosen: tuple[str, ...] = ()
    best = 1.0
    for size in range(1, numbers.variants + 1):
        # Exact for pairs; from there on one more at a time, as the number of sets would grow beyond use.
        sets = combinations(whole, size) if size <= 2 else ((*chosen, one) for one in whole if one not in chosen)
        allowed = [names for names in sets if len({needs[n] for n in names} - {None}) <= numbers.kernel_copies]
        top = max(allowed, key=lambda names: _guarded(ratios, names, workloads), default=None)
        if top is None or _guarded(ratios, top, workloads) <= best * (numbers.variant_gain if chosen else 1.0):
            break
        chosen, best = top, _guarded(ratios, top, workloads)
    return {label: _best_of(ratios, chosen, label) for label in workloads}


def best_single(ratios: Ratios, workloads: Sequence[str]) -> str | None:
    """The candidate that is best where it runs everywhere, for better or worse; None where none can."""
    whole = sorted(name for name, by_label in ratios.items() if all(label in by_label for label in workloads))
    return max(whole, key=lambda name: sum(math.log(ratios[name][label]) for label in workloads), default=None)


def decision(plan: Plan, state: State) -> dict[str, str | None]:
    """By workload what is judged. Candidates of a skeleton are guarded; a single file is judged as it is.

    Where no candidate is worth a guard, the best single one is judged everywhere: what it loses is the verdict.
    """
    ratios = screened_ratios(plan, state)
    if plan.skeleton is not None:
        guarded = assignment(
            ratios, state.workloads, plan.numbers.timing, over_limits(plan, state), kernel_copies(plan)
        )
        if any(guarded.values()):
            return guarded
    single = best_single(ratios, state.workloads)
    return dict.fromkeys(state.workloads, single)


def finalists(plan: Plan, state: State) -> dict[str, list[str]]:
    """By workload who is timed again: the chosen variants, the best everywhere, the best few, the best widened."""
    ratios = screened_ratios(plan, state)
    chosen = decision(plan, state)
    single = best_single(ratios, state.workloads)
    found: dict[str, list[str]] = {}
    for label in state.workloads:
        ranked = _ranked(ratios, label)
        widened = [name for name in ranked if plan.candidate(name).is_widened][:1]
        variants = [name for name in (*chosen.values(), single) if name is not None and name in ranked]
        wanted = [*variants, *ranked[: plan.numbers.timing.finalists], *widened]
        found[label] = list(dict.fromkeys(wanted))
    return found


def best_own(state: State, label: str) -> tuple[str, dict[str, int]] | None:
    """The original's fastest other configuration where it is faster than as shipped: its name and options."""
    line = state.last("own", workload=label)
    if line is None or "cold" not in line:
        return None
    ratios = {name: line_ratio(line, "cold", name) for name in line["options"]}
    best = max(ratios, key=lambda name: (ratios[name], name), default=None)
    if best is None or ratios[best] <= 1.0:
        return None
    return best, dict(line["options"][best])


def _ranked(ratios: Ratios, label: str) -> list[str]:
    timed = [name for name, by_label in ratios.items() if label in by_label]
    return sorted(timed, key=lambda name: (-ratios[name][label], name))


def _best_of(ratios: Ratios, names: Sequence[str], label: str) -> str | None:
    timed = [name for name in names if label in ratios[name]]
    best = max(timed, key=lambda name: (ratios[name][label], name), default=None)
    return best if best is not None and ratios[best][label] > 1.0 else None


def _guarded(ratios: Mapping[str, Mapping[str, float]], names: Sequence[str], workloads: Sequence[str]) -> float:
    logs = [math.log(max([1.0, *(ratios[name].get(label, 1.0) for name in names)])) for label in workloads]
    return math.exp(sum(logs) / len(logs)) if logs else 1.0
