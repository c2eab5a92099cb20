"""Task `judge_original`: the original against its reference and against itself, and whether the comparison can fail.

It runs in a process that never loads user code. Payload: numbers, exact (the class is bitwise), out (the original's
folder), cases with the facts of their runs, probed (the probes that were run), from_kernels
and undone (by case), kernels (the file holds some).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..isolation.channel import Emit
from ..protocol import Correctness
from . import trees
from .cases import Case
from .compare.sentinels import sentinels
from .outputs import Fact, compare_form, compare_values, compare_with_reference, fact
from .probes.judge import judge_probe
from .probes.run import first_cases
from .saved import broken_zone, cases_of, is_tensor, reference_of, reruns, use_cores, zones_of
from .undone import from_kernels

Runs = list[dict[str, Any]]


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """Result: `agrees` (case -> outputs that agree with the reference), `rejected` (case -> why it does not count),
    `depends` (case -> outputs and inputs that its kernels compute),
    `findings` (workload -> facts), `sentinels` (how many were tried and rejected), `probes` (`CASE.KIND` -> facts).
    """
    use_cores()
    numbers, out = Correctness(**payload["numbers"]), Path(payload["out"])
    everything = cases_of(payload)
    agrees: dict[str, list[str]] = {}
    rejected: dict[str, str] = {}
    findings: dict[str, list[Fact]] = {}
    vacuous: dict[tuple[str, str, str], bool] = {}
    for case, runs in everything:
        outputs = trees.load(out / f"{case.id}.0.pt")["outputs"]
        wrong = _against_reference(case, outputs, out, numbers)
        agrees[case.id] = [name for name in outputs if name not in wrong]
        if case.kind != "declared":
            if why := _unfit(case, runs, wrong, outputs, [one for one, _ in everything], out, numbers):
                rejected[case.id] = why
            continue
        if case.workload not in findings and (why := _says_nothing(outputs)):
            findings[case.workload] = [fact("vacuous_tolerance", "warning", sentinel="any at all", output=why)]
            vacuous |= _sentinels_that_pass(case, outputs, payload["exact"], numbers)
        if case.workload not in findings:  # one case of a workload tells whether its outputs are rich enough
            vacuous |= _sentinels_that_pass(case, outputs, payload["exact"], numbers)
        findings.setdefault(case.workload, []).extend(_about(case, runs, wrong, out))
    for (workload, name, kind), passes in vacuous.items():
        if passes:
            findings[workload].append(fact("vacuous_tolerance", "warning", sentinel=kind, output=name))
    probes: dict[str, list[Fact]] = {}
    workload_of = {case.id: case.workload for case, _ in everything}
    for probed in payload["probed"]:
        wrong_here = judge_probe(probed, out, payload["exact"], numbers)
        probes.setdefault(f"{probed['case']}.{probed['kind']}", []).extend(wrong_here)
        about = [f | {"severity": "warning"} for f in wrong_here]
        findings.setdefault(workload_of[probed["case"]], []).extend(about)
        findings[workload_of[probed["case"]]] += [
            fact("undetermined_original", "warning", output=f["fields"]["output"])
            for f in wrong_here
            if f["code"] == "order_dependent" and f["severity"] == "error"
        ]
    depends = {
        case.id: from_kernels(case, payload["from_kernels"][case.id], payload["undone"].get(case.id), out)
        for case, _ in everything
    }
    launched = {case.id: bool(runs[0]["launches"]) for case, runs in everything}
    for case in first_cases([one for one, _ in everything]):
        if not depends[case.id] and (launched[case.id] or payload["kernels"]):
            findings.setdefault(case.workload, []).append(fact("kernel_unseen", "warning", workload=case.workload))
    tried = {"tried": len(vacuous), "rejected": sum(not passes for passes in vacuous.values())}
    judged = {"agrees": agrees, "rejected": rejected, "findings": findings, "sentinels": tried, "probes": probes}
    return judged | {"depends": depends}


def _unfit(
    case: Case,
    runs: Runs,
    wrong: Mapping[str, Fact],
    outputs: Any,
    cases: list[Case],
    out: Path,
    numbers: Correctness,
) -> str | None:
    """Why a stressed or varied case does not count, where the original itself cannot take it; else None."""
    if wrong:
        return str(next(iter(wrong.values()))["code"])
    if any(run["broken"] for run in runs):
        return "out_of_bounds_write"
    if any(changed["code"] == "reads_outside" for changed in reruns(case, out, len(runs))):
        return "reads_outside"
    if case.values == "strided":
        plain = next(o for o in cases if (o.workload, o.seed, o.values) == (case.workload, case.seed, "normal"))
        right = trees.load(out / f"{plain.id}.0.pt")["outputs"]
        if compare_form(outputs, right) or any(
            compare_values(name, outputs[name], value, exact=False, reordered=True, numbers=numbers)
            for name, value in right.items()
            if is_tensor(value)
        ):
            return "values_differ"
    return None


def _about(case: Case, runs: Runs, wrong: Mapping[str, Fact], out: Path) -> list[Fact]:
    """What is odd about the original in a declared case: warnings, as the candidate is judged against it anyway."""
    found = []
    for name, bad in wrong.items():
        figures = {
            key: bad["fields"][key] for key in ("candidate", "reference", "count", "total") if key in bad["fields"]
        }
        index = bad["fields"].get("index", "[]")
        found.append(
            fact(
                "reference_disagrees", "warning", output=name, index=index, case=case.label, why=bad["code"], **figures
            )
        )
    found += [changed | {"severity": "warning"} for changed in reruns(case, out, len(runs))]
    for one in {(one["tensor"], one["side"]): one for run in runs for one in run["reads"]}.values():
        found.append(fact("out_of_bounds_read", "warning", what="the original", **one))
    return found + [broken_zone(zone, "the original", "warning") for zone in zones_of(runs)]


def _says_nothing(outputs: Any) -> str | None:
    """Why the outputs could not tell right from wrong: there are tensors, but no finite number among them."""
    tensors = {name: value for name, value in outputs.items() if is_tensor(value)}
    if not tensors or any(value.numel() and bool(value.isfinite().any()) for value in tensors.values()):
        return None
    return ", ".join(tensors)


def _sentinels_that_pass(
    case: Case, outputs: Any, exact: bool, numbers: Correctness
) -> dict[tuple[str, str, str], bool]:
    """By workload, output and sentinel: whether the comparison lets the deliberately wrong output pass."""
    passing = {}
    for name, right in outputs.items():
        for kind, bad in (sentinels(right, numbers) if is_tensor(right) else {}).items():
            difference = compare_values(name, bad, right, exact=exact, reordered=True, numbers=numbers)
            passing[(case.workload, name, kind)] = difference is None
    return passing


def _against_reference(case: Case, outputs: Any, out: Path, numbers: Correctness) -> dict[str, Fact]:
    reference = reference_of(case, out)
    found = {
        name: compare_with_reference(name, value, reference[name], numbers)
        for name, value in outputs.items()
        if name in reference and is_tensor(value)
    }
    return {name: bad for name, bad in found.items() if bad}
