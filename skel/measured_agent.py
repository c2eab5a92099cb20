"""The part of docs/measurements.md on an agent that knew nothing of skel and took a kernel to a faster one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skel.measured import section_of

AGENT = "docs/measured/agent.json"
"""What the agent of tests/agent/test_scripted_agent.py did where there is a GPU: its calls, what came of each, and the
verdict of the last."""


def agent_section(clone: Path) -> list[str]:
    """The section; empty where there is no such file."""
    return section_of(clone / AGENT, _section)


def _section(data: dict[str, Any]) -> Iterator[str]:
    where = data["environment"]
    yield f"## An agent with the tools alone: {data['file']}"
    yield ""
    yield (
        f"Verdict: **{data['verdict']}**, in {len(data['calls'])} calls and {data['seconds']:.0f} s. "
        f"{where['device']}, driver {where['driver']}, torch {where['torch']}, Triton {where['triton']}; measured "
        f"{data['measured_at'][:10]}. It follows the rules of tests/agent/test_scripted_agent.py, which are of the "
        "answers' `next` and not of skel; served are the workloads below."
    )
    yield ""
    yield "| workload | chosen | ratio, cold L2 |"
    yield "|---|---|---|"
    for row in data["workloads"]:
        cold = (row["ratio"] or {}).get("cold")
        ratio = f"{cold['median']:.3f} ({cold['low']:.3f} to {cold['high']:.3f})" if cold else "-"
        yield f"| {row['label']} | {row['chosen']} | {ratio} |"
    yield ""
    yield "| call | s | what came of it | findings | next |"
    yield "|---|---|---|---|---|"
    for call in data["calls"]:
        yield _row(call)
    yield ""


def _row(call: dict[str, Any]) -> str:
    said = call["error"]["code"] if "error" in call else call.get("summary") or call.get("reference", "")
    if call.get("state") in ("queued", "running"):
        step = call.get("progress") or {}
        said = f"{call['state']}: {step['message']}" if step else call["state"]
    codes = ", ".join([*call.get("refusals", ()), *call.get("findings", ())])
    given = call["arguments"]
    what = " ".join([call["tool"], *(str(given[key]) for key in ("skeleton", "file") if key in given)])
    cells = (what, f"{call['seconds']:.1f}", said[:160], codes, ", ".join(call.get("next", ())))
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
