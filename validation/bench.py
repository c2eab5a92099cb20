"""From a plan and what was measured to findings, verdict and evidence. Neither torch nor triton is imported here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skel.store.canonical import canonical_json, sha256
from skel.store.schema import Environment, Evidence, Finding, Place, Verdict

from .findings import from_fact
from .timing.plan import Plan
from .timing.state import State
from .timing.summary import summarise
from .workloads.naming import name_of_file, rerun_of

ORIGINAL = "original"
"""What is chosen on a workload where no variant is."""


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What a state says of its plan. `timing` is the document's part of that name."""

    plan: Plan
    verdict: Verdict
    timing: dict[str, Any]
    findings: tuple[Finding, ...]
    environment: Environment
    measured_at: datetime | None
    """When the last final was measured; None where there is none."""

    @property
    def finished(self) -> bool:
        """True where every workload has its finals."""
        return self.measured_at is not None and all("candidates" in row for row in self.timing["workloads"])

    @property
    def variants(self) -> dict[str, str]:
        """The texts that were chosen somewhere, by name."""
        return {name: self.plan.candidate(name).text for name in self.timing["variants"]}


def read_bench(plan: Plan, folder: Path, skel: str | None = None) -> BenchResult:
    """The result of what was measured in `folder` so far. `skel` is the version that is named in the environment.

    Raises StateError where the state is another plan's.
    """
    state = State(folder, plan.id)
    summary = summarise(plan, state)
    session = state.last("session")
    known = dict(session["environment"]) if session else {"device": "none: nothing was measured"}
    clocks = session["clocks"] if session else {}
    known |= {key: clocks[key] for key in ("clock_mhz", "power_watts") if key in clocks}
    finals = [line["at"] for line in state.all("final")]
    return BenchResult(
        plan=plan,
        verdict=Verdict(summary["verdict"]),
        timing={key: value for key, value in summary.items() if key != "facts"} | {"workloads": _rows(summary)},
        findings=tuple(_findings(plan, summary)),
        environment=Environment(skel=skel, **known),
        measured_at=datetime.fromtimestamp(max(finals), UTC) if finals else None,
    )


def evidence_of(result: BenchResult) -> Evidence | None:
    """The evidence of a finished measurement of a skeleton's candidates; None where there is nothing to be kept."""
    plan, timing = result.plan, result.timing
    if plan.skeleton is None or result.measured_at is None or not result.finished:
        return None
    chosen = [plan.candidate(name) for name in timing["variants"]]
    kernel = plan.kernel or timing["workloads"][0]["launches"][0]["kernel"]
    settings: dict[str, Any] = dict(chosen[0].settings) if len(chosen) == 1 else {}
    if len(chosen) > 1:
        settings = {"variants": {one.name: dict(one.settings) for one in chosen}}
    file = name_of_file(plan.subject)
    return Evidence(
        skeleton=plan.skeleton,
        kernel=kernel,
        file=file,
        source_sha256=plan.subject.sha256,
        candidate_sha256=chosen[0].sha256 if chosen else None,
        settings=settings,
        level="timing",
        verdict=result.verdict,
        workloads=tuple(timing["workloads"]),
        timing={key: value for key, value in timing.items() if key not in ("workloads", "verdict")}
        | {"variant_sha256": {one.name: one.sha256 for one in chosen}},
        findings=tuple(_placed(finding, file) for finding in result.findings),
        environment=result.environment,
        measured_at=result.measured_at,
        protocol=plan.numbers.to_dict(),
        rerun=rerun_of(file, plan.subject.sidecar, plan.pinned),
    )


def write_evidence(evidence: Evidence, folder: Path) -> Path:
    """Writes `HASH.json` into `folder`, named by its content: the same evidence is one file. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{sha256(canonical_json(evidence))[:16]}.json"
    text = json.dumps(evidence.model_dump(mode="json", exclude_none=True), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def _rows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows without their facts, which are findings now; `chosen` names the original where it is kept."""
    return [
        {key: value for key, value in row.items() if key != "facts"} | {"chosen": row["chosen"] or ORIGINAL}
        for row in summary["workloads"]
    ]


def _findings(plan: Plan, summary: dict[str, Any]) -> list[Finding]:
    measured = f"{summary['timer'] or 'nothing'}, cold L2"
    place = Place(file=plan.subject.path, kernel=plan.kernel)
    found = [from_fact(_weighed(fact, summary), place, measured) for fact in summary["facts"]]
    for row in summary["workloads"]:
        there = place.model_copy(update={"workload": row["label"]})
        found += [from_fact(_weighed(fact, summary), there, measured) for fact in row["facts"]]
    return found


def _placed(finding: Finding, file: str) -> Finding:
    """The finding with its file named as in the evidence."""
    return finding.model_copy(update={"place": finding.place.model_copy(update={"file": file})})


def _weighed(fact: dict[str, Any], summary: dict[str, Any]) -> dict[str, Any]:
    """What is wrong with a candidate that was not chosen, where another was, is no error of the result."""
    about = fact["data"].get("candidate") or fact["fields"].get("candidate")
    lesser = fact["severity"] == "error" and summary["variants"] and about is not None
    return fact | {"severity": "info"} if lesser and about not in summary["variants"] else fact
