"""Showing what a scan found: hazards get a small input each and are launched alone, in workers. What shows is a bug."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skel.faults import WrongUse
from skel.files import read_source


def show_findings(document: dict[str, Any], told: Callable[[str], None] = lambda path: None) -> None:
    """Adds to each hazard of the document what shows it, in `data.shown`, or why nothing does, in `data.not_shown`.

    A hazard that shows is a `bug` and an `error`. That a result depends on the tile may be meant: it stays
    `tile dependence` with what was seen, unless the autotuner chooses among tiles.

    Raises WorkerError where nothing can be run here.
    """
    from skel.validation.witness.show import Asked, show

    by_file: dict[str, list[dict[str, Any]]] = {}
    for finding in document["findings"]:
        by_file.setdefault(finding["place"]["file"], []).append(finding)
    asked, waiting = [], []
    for file, findings in by_file.items():
        try:
            text = read_source(Path(file)).text
        except WrongUse as fault:
            for finding in findings:
                finding["data"]["not_shown"] = fault.what
            continue
        planned = _planned(text, file, findings)
        if planned:
            kernels = tuple(dict.fromkeys(finding["place"]["kernel"] for finding, _ in planned))
            asked.append(Asked(file, text, kernels, [plans for _, plans in planned]))
            waiting.append([finding for finding, _ in planned])
    for findings, answers in zip(waiting, show(asked, told) if asked else (), strict=True):
        for finding, answered in zip(findings, answers, strict=True):
            _settle(finding, answered.shown, answered.why)


def _planned(text: str, file: str, findings: list[dict[str, Any]]) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Findings with launches that may show them; of the others, why there are none is noted."""
    from skel.rewriter.analysis.facts import analyse
    from skel.rewriter.detectors import KernelView
    from skel.rewriter.engine.witness import QUESTIONS, NotShown, plans
    from skel.rewriter.kernel.definition import load_module
    from skel.store.schema import Finding

    module = load_module(text, file)
    found = []
    for finding in findings:
        if finding["code"] not in QUESTIONS:
            continue
        place = finding["place"]
        named = module.kernels_named(place["kernel"])
        kernel = next(k for k in named if k.node.lineno <= place["line"] <= (k.node.end_lineno or 0))
        try:
            view = KernelView(analyse(module, kernel))
            found.append((finding, [asdict(plan) for plan in plans(view, Finding.model_validate(finding))]))
        except NotShown as why:
            finding["data"]["not_shown"] = str(why)
    return found


def _settle(finding: dict[str, Any], shown: dict[str, Any] | None, why: str | None) -> None:
    data = finding["data"]
    if shown is None:
        data["not_shown"] = why
        return
    data["shown"] = shown
    finding["measured"] = "interpreter"
    if data["word"] == "hazard" or data.get("tuned"):
        data["word"], finding["severity"] = "bug", "error"
