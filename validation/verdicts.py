"""From facts to verdicts. Pure: what workers and judges reported in, verdicts and findings out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skel.store.schema import Finding, Place, Verdict

from .findings import from_fact
from .numerics.cases import Case
from .report import WorkloadVerdict

FAILURES = frozenset(
    {
        "worker_crashed",
        "worker_timeout",
        "worker_out_of_memory",
        "worker_raised",
        "device_error",
        "device_setting_changed",
        "wrong_code_ran",
        "stale_binary",
        "other_binary_ran",
        "launch_changed",
        "output_not_from_kernel",
        "output_partly_not_from_kernel",
        "launches_for_show",
        "result_mended",
        "wrote_outside",
        "used_network",
        "started_process",
        "read_foreign",
        "library_changed",
        "setting_changed",
        "results_replaced",
    }
)
"""Findings that say the candidate did not run as it should; other errors say that it ran and was wrong."""
UNDECIDED = frozenset({"vacuous_tolerance", "undetermined_original", "kernel_unseen", "launch_output_unmatched"})
"""Findings about the original and its workload that leave nothing to hold a candidate against."""
_SHOWN = 6
"""Most findings of one code that a workload lists; the first ones say it."""


def verdict_of(findings: Iterable[Finding], otherwise: Verdict) -> Verdict:
    """`wrong` before `failed` before `inconclusive` (a vacuous tolerance, a racy original) before `otherwise`."""
    listed = list(findings)
    errors = {finding.code for finding in listed if finding.severity == "error"}
    if errors - FAILURES:
        return Verdict.WRONG
    if errors:
        return Verdict.FAILED
    return Verdict.INCONCLUSIVE if any(f.code in UNDECIDED for f in listed) else otherwise


def join(verdicts: Sequence[Verdict]) -> Verdict:
    """A file's verdict from its workloads': the worst; `inconclusive` where there is none."""
    for verdict in (Verdict.WRONG, Verdict.FAILED, Verdict.INCONCLUSIVE):
        if verdict in verdicts or not verdicts:
            return verdict if verdicts else Verdict.INCONCLUSIVE
    return Verdict.EQUIVALENT


def workload_verdict(
    label: str,
    cases: Sequence[Case],
    judged: Mapping[str, list[dict[str, Any]]],
    counted: set[str],
    extra: Sequence[dict[str, Any]],
    errors: Mapping[str, Any],
    file: str,
    measured: str,
) -> WorkloadVerdict:
    """One workload: `cases` all its cases, `judged` the facts of those that ran, `counted` the ids that count,
    `extra` facts of the workload as a whole."""
    wrong = [case for case in cases if case.id in counted and _bad(judged.get(case.id, ()))]
    passed = [case for case in cases if case.id in counted and case.id in judged and case not in wrong]
    findings = [
        from_fact(
            fact | {"data": {**fact["data"], "case": case.label}}, Place(file=file, workload=case.workload), measured
        )
        for case in cases
        if case.id in counted
        for fact in judged.get(case.id, ())
    ]
    findings += [from_fact(fact, Place(file=file, workload=label), measured) for fact in extra]
    kept = thin(findings)
    otherwise = Verdict.EQUIVALENT if passed and not wrong else Verdict.INCONCLUSIVE
    first = cases[0]
    return WorkloadVerdict(
        label=label,
        kind="shape" if first.kind == "shape" else "declared",
        parameters=first.parameters,
        verdict=verdict_of(findings, otherwise),
        cases_passed=len(passed),
        cases_wrong=len(wrong),
        cases_not_counted=sum(case.id not in counted for case in cases),
        seeds=tuple(dict.fromkeys(case.seed for case in cases)),
        errors=dict(errors),
        findings=tuple(kept),
    )


def thin(findings: Sequence[Finding]) -> list[Finding]:
    """The first few of each code and severity; the rest says the same again."""
    seen: dict[tuple[str, str], int] = {}
    kept = []
    for finding in findings:
        key = (finding.code, finding.severity)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= _SHOWN:
            kept.append(finding)
    return kept


def _bad(facts: Iterable[dict[str, Any]]) -> bool:
    return any(fact["severity"] == "error" for fact in facts)
