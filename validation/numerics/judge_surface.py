"""What a candidate does to its caller beside the values, held against the original. Pure: facts in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..workloads.hooks import is_scratch
from .outputs import Fact, fact

Runs = Sequence[Mapping[str, Any]]


def surface(runs: Runs, original: Runs, scratch: Sequence[str], found: Sequence[Fact]) -> list[Fact]:
    """Facts about the runs of one case. `found` are those known already: an input that is changed for good is not told
    again."""
    told = {one["fields"].get("name") for one in found}
    facts = [fact("input_changed", name=name) for name in _only(runs, original, "moved") if name not in told]
    told |= {one["fields"]["name"] for one in facts}
    writes = _inputs_written(runs) - _inputs_written(original)
    facts += [
        fact("input_borrowed", name=name)
        for name in sorted(writes)
        if name not in told and not is_scratch(name, scratch)
    ]
    shared = {(a, b) for run in runs for a, b in run["shared"]} - {(a, b) for run in original for a, b in run["shared"]}
    facts += [fact("output_aliases", output=a, other=b) for a, b in sorted(shared)]
    facts += [fact("output_reused", output=name) for name in _only(runs, original, "reused")]
    if modes := max(run["modes"] for run in runs) - max(run["modes"] for run in original):
        where = "the modes that PyTorch runs under"
        facts += [fact("setting_changed", what="the candidate", name=where, before=0, after=modes)] if modes > 0 else []
    if runs[0]["random"] and not original[0]["random"]:
        facts.append(fact("random_state_changed", "warning"))
    return facts + _layouts(runs[0]["layouts"], original[0]["layouts"])


def _only(runs: Runs, original: Runs, key: str) -> list[str]:
    return sorted({name for run in runs for name in run[key]} - {name for run in original for name in run[key]})


def _inputs_written(runs: Runs) -> set[str]:
    return {name for run in runs for key in ("touched", "written_inputs") for name in run[key]}


def _layouts(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[Fact]:
    found = []
    for name in mine.keys() & theirs.keys():
        got, meant = mine[name], theirs[name]
        if got["sizes"] != meant["sizes"]:
            continue
        if _steps(got) != _steps(meant):
            severity = "error" if _overlaps(got) and not _overlaps(meant) else "warning"
            found.append(
                fact(
                    "layout_differs",
                    severity,
                    output=name,
                    what="strides",
                    candidate=str(got["strides"]),
                    reference=str(meant["strides"]),
                )
            )
        if got["requires_grad"] != meant["requires_grad"]:
            found.append(
                fact(
                    "layout_differs",
                    "warning",
                    output=name,
                    what="requires_grad",
                    candidate=str(got["requires_grad"]),
                    reference=str(meant["requires_grad"]),
                )
            )
    return sorted(found, key=lambda one: (one["fields"]["output"], one["fields"]["what"]))


def _steps(layout: Mapping[str, Any]) -> list[int]:
    """Strides of the dimensions along which there is a step."""
    return [stride for size, stride in zip(layout["sizes"], layout["strides"], strict=True) if size > 1]


def _overlaps(layout: Mapping[str, Any]) -> bool:
    """True where several elements lie at one address."""
    return 0 in _steps(layout)
