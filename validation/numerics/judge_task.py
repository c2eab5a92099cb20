"""Tasks `judge_original` and `judge_candidate`: compare saved tensors, in a process that never loads user code.

Payload of both: numbers, exact (the class is bitwise), cases with the facts of their runs, out (the original's folder).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..isolation.channel import Emit
from ..protocol import Correctness
from . import trees
from .cases import Case
from .compare.errors import Pooled
from .compare.exact import exact_difference
from .compare.sentinels import sentinels
from .outputs import Fact, compare_form, compare_values, compare_with_reference, fact


def judge_original(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """The original against its reference and against itself, and whether the comparison can fail.

    Result: `usable` (case -> outputs that agree with the reference), `rejected` (cases that do not count),
    `findings` (workload -> facts), `sentinels` (how many were tried and rejected).
    """
    numbers, out = Correctness(**payload["numbers"]), Path(payload["out"])
    agrees: dict[str, list[str]] = {}
    rejected: dict[str, str] = {}
    findings: dict[str, list[Fact]] = {}
    vacuous: dict[tuple[str, str, str], bool] = {}
    for case, runs in _cases(payload):
        first = trees.load(out / f"{case.id}.0.pt")["outputs"]
        wrong = _against_reference(case, first, out, numbers)
        agrees[case.id] = [name for name in first if name not in wrong]
        own = [f for f in _reruns(case, out, len(runs)) if f["code"] == "reads_outside"] if case.kind == "shape" else []
        if case.kind != "declared" and (wrong or own or any(run["broken"] for run in runs)):
            rejected[case.id] = next(iter(wrong.values()), {"code": "out_of_bounds_write"})["code"]
            continue
        if case.kind == "declared":
            found = findings.setdefault(case.workload, [])
            found += [
                fact(
                    "reference_disagrees",
                    "warning",
                    output=name,
                    index=bad["fields"].get("index", "[]"),
                    case=case.label,
                    why=bad["code"],
                    **_pair(bad),
                )
                for name, bad in wrong.items()
            ]
            found += [f | {"severity": "warning"} for f in _reruns(case, out, len(runs))]
            found += [_broken(zone, "the original", "warning") for zone in _zones(runs)]
            for name, right in first.items():
                for kind, bad in (sentinels(right, numbers) if _tensor(right) else {}).items():
                    passes = (
                        compare_values(name, bad, right, exact=payload["exact"], reordered=True, numbers=numbers)
                        is None
                    )
                    key = (case.workload, name, kind)
                    vacuous[key] = vacuous.get(key, True) and passes
    for (workload, name, kind), passes in vacuous.items():
        if passes:
            findings.setdefault(workload, []).append(fact("vacuous_tolerance", "warning", sentinel=kind, output=name))
    return {
        "agrees": agrees,
        "rejected": rejected,
        "findings": findings,
        "sentinels": {"tried": len(vacuous), "rejected": sum(not passes for passes in vacuous.values())},
    }


def judge_candidate(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """A candidate against the original and the reference.

    Further payload: candidate_out, agrees (from judge_original), original_runs, reference_outranks.
    Result: `cases` (case -> facts; empty where it passes), `errors` (workload -> output -> pooled figures), and
    `findings` (workload -> facts that no single case shows).
    """
    numbers, out, own = Correctness(**payload["numbers"]), Path(payload["out"]), Path(payload["candidate_out"])
    verdicts: dict[str, list[Fact]] = {}
    pools: dict[tuple[str, str], tuple[Pooled, float]] = {}
    for case, runs in _cases(payload):
        original_runs = payload["original_runs"][case.id]
        found: list[Fact] = []
        for number in range(len(runs)):
            right = trees.load(out / f"{case.id}.{min(number, len(original_runs) - 1)}.pt")
            left = trees.load(own / f"{case.id}.{number}.pt")
            found = _judge_run(case, left, right, payload, out, numbers)
            if found:
                break
        found += _judge_facts(case, runs, original_runs)
        if not found:
            unsteady_original = bool(_reruns(case, out, len(original_runs)))
            found = [
                f | {"severity": "warning" if unsteady_original or f["code"] == "not_deterministic" else "error"}
                for f in _reruns(case, own, len(runs))
            ]
        verdicts[case.id] = found
        if case.kind == "declared":
            _pool(pools, case, own, out, payload["agrees"][case.id])
    errors: dict[str, dict[str, Any]] = {}
    findings: dict[str, list[Fact]] = {}
    for (workload, name), (pool, eps) in pools.items():
        errors.setdefault(workload, {})[name] = pool.figures()
        if grown := pool.grew(eps, numbers):
            findings.setdefault(workload, []).append(fact("error_grew", output=name, **grown))
    return {"cases": verdicts, "errors": errors, "findings": findings}


def _judge_run(
    case: Case, left: Any, right: Any, payload: dict[str, Any], out: Path, numbers: Correctness
) -> list[Fact]:
    found = compare_form(left["outputs"], right["outputs"])
    if found:
        return found
    agrees, exact = payload["agrees"][case.id], payload["exact"]
    reference = _reference(case, out)
    for name, expected in right["outputs"].items():
        if not _tensor(expected):
            continue
        got = left["outputs"][name]
        outside = (
            compare_with_reference(name, got, reference[name], numbers)
            if name in reference and name in agrees
            else None
        )
        if (
            name in reference
            and payload["reference_outranks"]
            and compare_with_reference(name, got, reference[name], numbers) is None
        ):
            continue
        bad = compare_values(name, got, expected, exact=exact, reordered=not exact, numbers=numbers) or outside
        found += [bad] if bad else []
    return found + _changed_inputs(case, left["inputs"], right["inputs"], payload, exact, numbers)


def _changed_inputs(
    case: Case, left: Any, right: Any, payload: dict[str, Any], exact: bool, numbers: Correctness
) -> list[Fact]:
    before = trees.flatten(trees.load(Path(payload["exchange"]) / f"{case.id}.pt"), alone="input")
    found = []
    for name, expected in right.items():
        got, was = left.get(name), before[name]
        if got is None or compare_form({name: got}, {name: was}):
            found.append(fact("input_changed", name=name))
        elif exact_difference(expected, was) is None:
            if changed := exact_difference(got, was):
                found.append(fact("input_changed", name=name, **changed))
        elif bad := compare_values(name, got, expected, exact=exact, reordered=not exact, numbers=numbers):
            found.append(
                fact(
                    "input_change_differs",
                    name=name,
                    why=bad["code"],
                    **{k: v for k, v in bad["fields"].items() if k != "output"},
                )
            )
    return found


def _judge_facts(case: Case, runs: list[dict[str, Any]], original_runs: list[dict[str, Any]]) -> list[Fact]:
    """What the candidate's worker saw of its own runs: broken zones, odd outputs, launches."""
    found = []
    shared = {(zone["tensor"], zone["side"]) for zone in _zones(original_runs)}
    for zone in _zones(runs):
        found.append(_broken(zone, "the candidate", "warning" if (zone["tensor"], zone["side"]) in shared else "error"))
    for name, kind in runs[0]["odd_types"].items():
        found.append(fact("outputs_differ", candidate=f"{name}: {kind}", reference=f"{name}: plain tensor"))
    return found


def _reruns(case: Case, folder: Path, count: int) -> list[Fact]:
    """Runs of one case against its first: same surroundings must give the same bits, other surroundings too."""
    found: list[Fact] = []
    if count < 2:
        return found
    first = trees.load(folder / f"{case.id}.0.pt")["outputs"]
    for number in range(1, count):
        again = trees.load(folder / f"{case.id}.{number}.pt")["outputs"]
        code = "reads_outside" if number == count - 1 and not found else "not_deterministic"
        for name, value in first.items():
            if name in again and _tensor(value) and not compare_form({name: again[name]}, {name: value}):
                if changed := exact_difference(again[name], value):
                    found.append(fact(code, output=name, **changed))
    return found


def _against_reference(case: Case, outputs: Any, out: Path, numbers: Correctness) -> dict[str, Fact]:
    reference = _reference(case, out)
    found = {
        name: compare_with_reference(name, value, reference[name], numbers)
        for name, value in outputs.items()
        if name in reference and _tensor(value)
    }
    return {name: bad for name, bad in found.items() if bad}


def _reference(case: Case, out: Path) -> dict[str, Any]:
    path = out / f"{case.id}.reference.pt"
    return dict(trees.load(path)) if path.exists() else {}


def _pool(
    pools: dict[tuple[str, str], tuple[Pooled, float]], case: Case, own: Path, out: Path, agrees: list[str]
) -> None:
    import torch

    reference = _reference(case, out)
    left, right = (trees.load(folder / f"{case.id}.0.pt")["outputs"] for folder in (own, out))
    for name in agrees:
        if (
            name in reference
            and name in left
            and right[name].is_floating_point()
            and not compare_form({name: left[name]}, {name: right[name]})
        ):
            pool, _ = pools.setdefault((case.workload, name), (Pooled(), torch.finfo(right[name].dtype).eps))
            pool.add(left[name], right[name], reference[name])


def _cases(payload: dict[str, Any]) -> list[tuple[Case, list[dict[str, Any]]]]:
    return [(Case(**entry["case"]), entry["runs"]) for entry in payload["cases"]]


def _zones(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Broken zones of all runs, each named once."""
    return list({(zone["tensor"], zone["side"]): zone for run in runs for zone in run["broken"]}.values())


def _broken(zone: dict[str, Any], what: str, severity: str) -> Fact:
    return fact("out_of_bounds_write", severity, what=what, **zone)


def _pair(bad: Fact) -> dict[str, Any]:
    return {key: bad["fields"][key] for key in ("candidate", "reference", "count", "total") if key in bad["fields"]}


def _tensor(value: object) -> bool:
    import torch

    return isinstance(value, torch.Tensor)
