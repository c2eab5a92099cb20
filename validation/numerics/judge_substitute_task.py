"""Task `judge_substitute`: which questions the original answered with the outputs it always gives.

It runs in a process that never loads user code. Payload: numbers, exact, out (the original's folder), own (what the
runs with other values gave), questions, substituted (their events).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..isolation.channel import Emit
from . import trees
from .outputs import Fact, fact
from .saved import use_cores
from .undone import differs


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """Result: `findings`, workload -> facts: a memory that differs and that no output depends on."""
    use_cores()
    out, own = Path(payload["out"]), Path(payload["own"])
    unseen: dict[int, list[str]] = {}
    for event in payload["substituted"]:
        asked = payload["questions"][event["question"]]
        if not event["raised"] and _same(asked, event, out, own, payload["exact"]):
            unseen.setdefault(event["question"], []).append(event["kind"])
    findings: dict[str, list[Fact]] = {}
    for number in unseen:
        asked = payload["questions"][number]
        findings.setdefault(asked["case"]["workload"], []).append(_fact(asked))
    return {"findings": findings}


def _same(asked: dict[str, Any], event: dict[str, Any], out: Path, own: Path, exact: bool) -> bool:
    right = trees.load(out / f"{asked['case']['id']}.0.pt")
    left = trees.load(own / f"{event['question']}.{event['kind']}.pt")
    return not any(
        differs(left[part].get(name), value, exact)
        for part in ("outputs", "inputs")
        for name, value in right[part].items()
    )


def _fact(asked: dict[str, Any]) -> Fact:
    where = {"kernel": asked["kernel"], "name": asked["parameter"]}
    if asked["differs"] is None or asked["matched"] != "kernel":
        return fact("launch_output_unmatched", "warning", **where)
    return fact("launch_output_differs", **where, **asked["differs"])
