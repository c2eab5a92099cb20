"""Findings as they are told: the weightiest first, and what is the same in several cases once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_SEVERITIES = ("error", "warning", "info")
_LOCAL = frozenset(
    {"wrong_step", "wrong_change", "wrong_element", "unwritten_element", "written_outside", "figures_changed"}
)
"""Codes that name a statement, a program or a figure: told before what they follow up."""
_OF_ALL = frozenset({"error_grew", "order_dependent"})
"""Codes that often follow from others: told after them."""


def told_once(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings in the order of their weight: errors first, of these the ones that name a place first. What is the same
    of one output in several cases is told once, with the number of the others and their workloads in `data`.
    """
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in sorted(findings, key=lambda one: (_SEVERITIES.index(one["severity"]), _rank(one["code"]))):
        about = next((one["data"][key] for key in ("output", "name", "tensor") if key in one["data"]), one["message"])
        groups.setdefault((one["severity"], one["code"], str(about), one["place"].get("line")), []).append(one)
    told = []
    for first, *others in groups.values():
        if others:
            workloads = dict.fromkeys(str(one["place"].get("workload")) for one in [first, *others])
            first = first | {"data": first["data"] | {"further_cases": len(others), "workloads": list(workloads)[:6]}}
        told.append(first)
    return told


def _rank(code: str) -> int:
    return 0 if code in _LOCAL else 2 if code in _OF_ALL else 1
