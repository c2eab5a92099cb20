"""What a candidate changed in registers, spills, shared memory, instructions and waves, from the compile reports."""

from __future__ import annotations

from math import ceil
from typing import Any

from skel.rewriter.reasons import finding
from skel.store.schema import Finding, Place

MULTIPROCESSORS = {"sm_80": 108, "sm_86": 84, "sm_89": 128, "sm_90": 132, "sm_100": 148, "sm_120": 170}
"""Of the largest device of each architecture that is sold widely; NVIDIA's data sheets."""
_REGISTERS, _WARPS, _PROGRAMS = 65536, 64, 32
"""Of one multiprocessor: 32-bit registers, resident warps and programs (compute capability 8.0 and 9.0; 8.6 and 8.9
hold 48 warps and 16 or 24 programs). CUDA C++ programming guide, technical specifications."""
_SHARED = {"sm_80": 167_936, "sm_86": 102_400, "sm_89": 102_400, "sm_90": 233_472, "sm_100": 233_472, "sm_120": 102_400}
"""Shared memory of one multiprocessor, bytes; the same tables."""
_GLOBAL = ("global_loads", "global_stores", "async_copies", "atomics")
"""Instructions that move data to or from global memory. Over all warps of all programs they are the traffic as far as
the binary tells it: an instruction in a loop counts once."""
_PLAIN = ("registers", "spill_bytes", "stack_bytes", "shared_memory_bytes", "num_warps", "programs")


def figures_changed(
    compiled: dict[str, Any], candidate: str, kernel: str | None, file: str, slower: bool
) -> Finding | None:
    """One finding with every figure of the kernel that differs from the original's; None where none does.

    `compiled` is the document's part of that name; `slower` says that it is why the candidate lost.
    """
    reports = {report["candidate"]: report for report in compiled["reports"]}
    if not {"original", candidate} <= set(reports):
        return None
    before, after = (figures(reports[name], kernel) for name in ("original", candidate))
    changed = {
        key: (before.get(key, 0), after.get(key, 0))
        for key in dict.fromkeys([*before, *after])
        if before.get(key, 0) != after.get(key, 0)
    }
    if not changed or not before or not after:
        return None
    said = ", ".join(f"{key.replace('_', ' ')} {old:g} -> {new:g}" for key, (old, new) in changed.items())
    return finding(
        "figures_changed",
        Place(file=file, kernel=kernel),
        severity="warning" if slower else "info",
        measured=f"compile {compiled['target']}",
        data={key: {"original": old, "candidate": new} for key, (old, new) in changed.items()},
        candidate=candidate,
        target=compiled["target"],
        changes=said,
    ).model_copy(update={"compared_with": "the original as shipped", "cost": "one compile, about 0.5 s"})


def figures(report: dict[str, Any], kernel: str | None) -> dict[str, float]:
    """Figures of a kernel in a report, of the form with most registers; with its waves on the target."""
    kernels = [one for one in report["kernels"] if kernel in (None, one["kernel"])] or report["kernels"]
    if not kernels:
        return {}
    one = max(kernels, key=lambda entry: entry["registers"])
    found: dict[str, float] = {key: one[key] for key in _PLAIN} | dict(one["instructions"])
    accesses = sum(one["instructions"].get(key, 0) for key in _GLOBAL)
    found["warp_global_accesses"] = accesses * int(one["num_warps"]) * int(one["programs"])
    counted = waves(one, report["target"])
    return found if counted is None else found | {"waves": counted}


def waves(kernel: dict[str, Any], target: str) -> float | None:
    """How many times the device is filled: programs over those resident at once. None where the target is not known.

    Registers are allotted in units of 256 a warp. CUDA occupancy calculator.
    """
    if target not in MULTIPROCESSORS or not kernel["registers"]:
        return None
    a_warp = ceil(int(kernel["registers"]) * 32 / 256) * 256
    warps = int(kernel["num_warps"])
    resident = min(_PROGRAMS, _WARPS // warps, _REGISTERS // (a_warp * warps))
    if kernel["shared_memory_bytes"]:
        resident = min(resident, _SHARED[target] // (int(kernel["shared_memory_bytes"]) + 1024))
    programs = int(kernel["programs"])
    return float(round(programs / (max(resident, 1) * MULTIPROCESSORS[target]), 3))
