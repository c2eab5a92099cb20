"""Task `judge_candidate`: a candidate's saved tensors against the original's and the reference's.

It runs in a process that never loads user code. Payload: numbers, exact (the class is bitwise), exchange, out (the
original's folder), cases with the facts of the candidate's runs, candidate_out, agrees (from `judge_original`),
original_runs, reference_outranks, probed (probes that were run), original_probes (what the original's gave).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..isolation.channel import Emit
from ..protocol import Correctness
from ..workloads.hooks import is_scratch
from . import trees
from .cases import Case
from .compare.errors import Pooled
from .compare.exact import exact_difference
from .diagnose import kinds_of_wrong, right_where_foreseen
from .judge_launches import Question, questions
from .judge_origin import origin
from .judge_surface import surface
from .outputs import Fact, compare_form, compare_values, compare_with_reference, fact
from .probes.judge import judge_probe
from .probes.run import first_cases
from .saved import broken_zone, cases_of, is_tensor, reference_of, reruns, use_cores, zones_of
from .traced import trace

_QUESTIONS = 6
"""Most memories of a candidate that the original is asked about; those of the first case go first."""


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """A candidate against the original and the reference.

    Further payload: candidate_out, agrees (from judge_original), original_runs, reference_outranks.
    Result: `cases` (case -> facts; empty where it passes), `errors` (workload -> output -> pooled figures), and
    `findings` (workload -> facts that no single case shows), `questions` to the original (see `judge_launches`).
    """
    use_cores()
    numbers, out, own = Correctness(**payload["numbers"]), Path(payload["out"]), Path(payload["candidate_out"])
    verdicts: dict[str, list[Fact]] = {}
    pools: dict[tuple[str, str], tuple[Pooled, float]] = {}
    done: list[Case] = []
    asked: list[Question] = []
    firsts = {case.workload: case for case in first_cases([one for one, _ in cases_of(payload)])}
    for case, runs in cases_of(payload):
        if any(trees.seal(own / f"{case.id}.{n}.pt") != run["sealed"] for n, run in enumerate(runs)):
            verdicts[case.id] = [fact("results_replaced")]
            continue
        original_runs = payload["original_runs"][case.id]
        found: list[Fact] = []
        for number in range(len(runs)):
            right = trees.load(out / f"{case.id}.{min(number, len(original_runs) - 1)}.pt")
            left = trees.load(own / f"{case.id}.{number}.pt")
            found = _judge_run(case, left, right, payload, out, numbers)
            if found:
                earlier = [one for one in done if one.workload == case.workload]
                found += kinds_of_wrong(case, number, left["outputs"], right["outputs"], own, earlier)
                break
        found += _judge_facts(case, runs, original_runs)
        found += surface(runs, original_runs, payload["scratch"], found)
        if not found:
            unsteady_original = bool(reruns(case, out, len(original_runs)))
            found = [
                f | {"severity": "warning" if unsteady_original or f["code"] == "not_deterministic" else "error"}
                for f in reruns(case, own, len(runs))
            ]
        if not found:
            if case.kind == "declared":
                found = origin(case, runs, payload, own, firsts[case.workload])
            everything = questions(case, own, out, payload["exact"], numbers)
            asked += [one for one in everything if not is_scratch(one["parameter"], payload["scratch"])]
        verdicts[case.id] = trace(found, own / f"{case.id}.writers.pt")
        done.append(case)
        if case.kind == "declared":
            _pool(pools, case, own, out, payload["agrees"][case.id])
    errors: dict[str, dict[str, Any]] = {}
    findings: dict[str, list[Fact]] = right_where_foreseen(done, verdicts)
    for probed in payload["probed"]:
        verdicts[probed["case"]] += _judge_probe(probed, payload, own, numbers)
    for (workload, name), (pool, eps) in pools.items():
        errors.setdefault(workload, {})[name] = pool.figures()
        if grown := pool.grew(eps, numbers):
            findings.setdefault(workload, []).append(fact("error_grew", output=name, **grown))
    chosen = list({(q["kernel"], q["parameter"], q["number"]): q for q in reversed(asked)}.values())[:_QUESTIONS]
    for number, question in enumerate(chosen):
        if (values := question.pop("values")) is not None:
            trees.save(values, Path(payload["values"]) / f"{number}.pt")
    return {"cases": verdicts, "errors": errors, "findings": findings, "questions": chosen}


def _judge_probe(probed: dict[str, Any], payload: dict[str, Any], own: Path, numbers: Correctness) -> list[Fact]:
    """What is wrong with a probe; only a warning where the original fails the same."""
    found = judge_probe(probed, own, payload["exact"], numbers)
    shared = {f["code"] for f in payload["original_probes"].get(f"{probed['case']}.{probed['kind']}", ())}
    return [f | {"severity": "warning"} if f["code"] in shared else f for f in found]


def _judge_run(
    case: Case, left: Any, right: Any, payload: dict[str, Any], out: Path, numbers: Correctness
) -> list[Fact]:
    found = compare_form(left["outputs"], right["outputs"])
    if found:
        return found
    agrees, exact = payload["agrees"][case.id], payload["exact"]
    reference = reference_of(case, out)
    for name, expected in right["outputs"].items():
        if not is_tensor(expected):
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
        elif is_scratch(name, payload["scratch"]):
            continue
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
    shared = {(zone["tensor"], zone["side"]) for zone in zones_of(original_runs)}
    for zone in zones_of(runs):
        found.append(
            broken_zone(zone, "the candidate", "warning" if (zone["tensor"], zone["side"]) in shared else "error")
        )
    read_too = {(one["tensor"], one["side"]) for run in original_runs for one in run["reads"]}
    for one in {(one["tensor"], one["side"]): one for run in runs for one in run["reads"]}.values():
        severity = "warning" if (one["tensor"], one["side"]) in read_too else "error"
        found.append(fact("out_of_bounds_read", severity, what="the candidate", **one))
    for name, kind in runs[0]["odd_types"].items():
        found.append(fact("lazy_output", output=name, kind=kind))
    if left := max(run["threads"] for run in runs) - max(run["threads"] for run in original_runs):
        found += [fact("work_left_running", what="the candidate", count=left)] if left > 0 else []
    return found


def _pool(
    pools: dict[tuple[str, str], tuple[Pooled, float]], case: Case, own: Path, out: Path, agrees: list[str]
) -> None:
    import torch

    reference = reference_of(case, out)
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
