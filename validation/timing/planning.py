"""Makes a plan on any machine: candidates that compile within the limits of the target are worth a GPU's time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..compile.check import compile_check
from ..compile.report import CompileReport
from ..isolation import Workers
from ..protocol import Protocol
from ..subject import CandidateSource, Subject
from .plan import Plan, PlanCandidate

Say = Callable[[str], None]


def known_constants(original: CompileReport, kernel: str | None) -> dict[str, int]:
    """Integer constexprs of the launches that were compiled, by parameter: the sizes that candidates are made for."""
    found: dict[str, int] = {}
    for figures in original.kernels:
        if kernel is None or figures.kernel == kernel:
            found |= {name: value for name, value in figures.constexprs.items() if type(value) is int}
    return found


def compile_original(subject: Subject, target: str, workers: Workers, numbers: Protocol) -> CompileReport:
    """The original compiled for `target`, nothing else."""
    return compile_check(subject, [], target=target, protocol=numbers, workers=workers)[0]


def compiled_plan(
    plan: Plan, target: str, workers: Workers, report: Callable[[str, dict[str, Any]], None] | None = None
) -> tuple[Plan, list[CompileReport]]:
    """The plan without the candidates that do not compile or are over the limits, and every candidate's report."""
    sources = [CandidateSource(one.name, one.text, dict(one.settings)) for one in plan.candidates]
    _, reports = compile_check(
        plan.subject, sources, target=target, protocol=plan.numbers, workers=workers, progress=report
    )
    return without(plan, reports), reports


def without(plan: Plan, reports: Sequence[CompileReport]) -> Plan:
    """The plan without those whose report says that they are over the limits, or did not compile."""
    fit = {report.candidate for report in reports if report.within_limits}
    kept: tuple[PlanCandidate, ...] = tuple(one for one in plan.candidates if one.name in fit)
    return replace(plan, candidates=kept)
