"""What a finished comparison or application says further: for the tools of agents and for the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from skel.apply import Job
from skel.store.schema import Finding, Verdict

from .steps import Version

Step = Callable[[str, dict[str, Any]], None]
"""Is told each step with its figures."""


def after_check(
    original: str, file: str, candidate: str, path: str, workload: str | None, document: dict[str, Any], step: Step
) -> list[dict[str, Any]]:
    """Of two files that were compared: how the error grows; where they differ, who wrote the first wrong element, and
    the first changed place after which the result is wrong. `candidate` is the other text and `path` its file."""
    from .elements import wrong_elements
    from .growth import error_growth
    from .steps import by_hunk

    found = error_growth(document["numerics"], document["candidates"][0]["name"], file)
    if document["verdict"] == Verdict.WRONG.value:
        found += wrong_elements(document["findings"], candidate, path)
        versions = by_hunk(original, candidate)
        named = bisect(original, file, workload, versions, step) if versions else None
        found += [named.model_copy(update={"place": named.place.model_copy(update={"file": path})})] if named else []
    return _dump(found)


def after_apply(job: Job, text: str | None, document: dict[str, Any], step: Step) -> list[dict[str, Any]]:
    """Of an application: which figures of the compiled kernel changed, how the error grows; where the result is wrong,
    who wrote the first wrong element, and the step of the schedule after which it is. `text` is the result."""
    from .elements import wrong_elements
    from .figures import figures_changed
    from .growth import error_growth
    from .steps import by_schedule

    chosen = next((one for one in document["candidates"] if one["chosen"]), None)
    if chosen is None or text is None:
        return []
    found: list[Finding] = []
    if document["compile"] is not None:
        slower = document["verdict"] == Verdict.SLOWER.value
        changed = figures_changed(document["compile"], chosen["name"], document["kernel"], job.file, slower)
        found += [changed] if changed else []
    if document["numerics"] is not None:
        found += error_growth(document["numerics"], chosen["name"], job.file)
    if document["verdict"] == Verdict.WRONG.value:
        found += wrong_elements(document["findings"], text, job.file)
        versions = by_schedule(job.skeleton, job.text, job.file, document["kernel"], chosen["settings"])
        named = bisect(job.text, job.file, job.workload, versions, step)
        found += [named] if named else []
    return _dump(found)


def bisect(text: str, file: str, workload: str | None, versions: Sequence[Version], step: Step) -> Finding | None:
    """The finding that names the first of several changes after which the result is wrong; None where none can be."""
    from skel.gpu import device
    from skel.validation import check
    from skel.validation.subject import CandidateSource

    from .steps import first_wrong

    def judge(them: Sequence[Version]) -> list[Verdict]:
        sources = [CandidateSource(f"version {number}", one.text) for number, one in enumerate(them, 1)]
        report = check.check(text, sources, file, workload_file=workload, device=device(), progress=step)
        return [one.verdict for one in report.candidates]

    step("bisection", {"versions": len(versions)})
    return first_wrong(text, versions, judge, file, "bisection")


def _dump(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [one.model_dump(mode="json") for one in findings]
