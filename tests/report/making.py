"""Evidence of several shapes for the tests of reports."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from skel.report import Piece
from skel.store.schema import Evidence, EvidenceStatus

LABELS = {"small": (10.0, 8.0), "large": (80.0, 78.0)}
"""Workloads with the original's times in µs, cold and warm."""


def ratio(median: float, spread: float = 0.004) -> dict[str, float]:
    return {"median": median, "low": round(median - spread, 4), "high": round(median + spread, 4)}


def version(original: tuple[float, float], cold: float, warm: float, floor: tuple[float, float]) -> dict[str, Any]:
    """A candidate's entry with these ratios over the original."""
    times = {"cold": round(original[0] / cold, 3), "warm": round(original[1] / warm, 3)}
    return {
        "microseconds": times,
        "ratio": {"cold": ratio(cold), "warm": ratio(warm)},
        "of_floor": {mode: round(least / times[mode], 4) for mode, least in zip(times, floor, strict=True)},
        "registers": 96,
        "spill_bytes": 0,
        "shared_memory_bytes": 4096,
        "num_warps": 4,
    }


def workload(label: str, gains: dict[str, tuple[float, float]], chosen: str, verdict: str) -> dict[str, Any]:
    """A row with finals: `gains` by version, the original and its own best configuration beside them."""
    times, floor = LABELS[label], (4.0, 2.0)
    made = {name: version(times, *gain, floor) for name, gain in gains.items()}
    original = version(times, 1.0, 1.0, floor) | {"ratio": {}, "registers": 190, "num_warps": 1}
    return {
        "label": label,
        "parameters": {"N": len(label), "V": 128, "state_dtype": "bf16"},
        "chosen": chosen,
        "verdict": verdict,
        "launches": [
            {"kernel": "decode_kernel", "grid": [4, 32], "constants": {"BV": 32}, "dtypes": {"q": "bfloat16"}}
        ],
        "floor": {"cold_us": floor[0], "warm_us": floor[1]},
        "candidates": {"original": original, "own": version(times, 1.2, 1.25, floor), **made},
        "control": {"cold": ratio(1.0, 0.002), "warm": ratio(1.0, 0.003)},
        "own": {"name": "original 4w 1s", "options": {"num_warps": 4}},
        "samples": {"cold": 300, "warm": 300},
        "dropped": 0,
        "reference": {"compared": True, "outputs": ["0"]},
        "sound": True,
    }


def screening(gains: dict[str, tuple[float, float]]) -> list[dict[str, Any]]:
    """Every candidate on both workloads; `wide-8w` spills on the large one and is not timed there."""
    settings = {
        "loop-2w": {"form": "loop", "tile": 32, "tiles": "all", "num_warps": 2},
        "wide-4w": {"form": "widen", "tile": 64, "tiles": "kept", "num_warps": 4},
        "wide-8w": {"form": "widen", "tile": 64, "tiles": "kept", "num_warps": 8},
    }
    entries = []
    for name, (small, large) in gains.items():
        for label, cold in (("small", small), ("large", large)):
            entry = {"candidate": name, "workload": label, "settings": settings[name]}
            spilled = name == "wide-8w" and label == "large"
            entries.append(entry | ({"why": "spills"} if spilled else {"cold": cold, "warm": cold}))
    return entries


def timed(**changes: Any) -> Evidence:
    """A timing that won on both workloads, behind a guard."""
    small, large = {"wide-4w": (1.5, 1.6), "loop-2w": (0.84, 0.9)}, {"loop-2w": (1.9, 1.88), "wide-4w": (1.1, 1.08)}
    rows = (workload("small", small, "wide-4w", "faster"), workload("large", large, "loop-2w", "faster"))
    timing = {
        "timed": True,
        "timer": "cuda graph",
        "decided_by": "cold",
        "guarded": True,
        "variants": ["wide-4w", "loop-2w"],
        "geometric_mean": {
            "cold": ratio(1.69), "warm": ratio(1.73), "cold_over_own": ratio(1.41), "warm_over_own": ratio(1.39),
            "cold_over_widened": ratio(1.31), "warm_over_widened": ratio(1.32),
            "cold_minimum": 1.5, "warm_minimum": 1.6,
        },
        "screening": screening({"loop-2w": (0.84, 1.9), "wide-4w": (1.5, 1.1), "wide-8w": (0.7, 0.0)}),
        "own_configurations": [{"workload": "small", "cold": {"2w": 1.2}, "left_out": []}],
        "ceilings": {"device_bytes_per_second": 4.6e12, "l2_bytes_per_second": 6.3e12},
        "clocks": [[{"clock_mhz": 1980, "temperature_celsius": 52, "power_watts": 605.8}]],
        "seeds": {"small": [7, 8], "large": [7]},
    }  # fmt: skip
    made = {
        "skeleton": "fuse_vtiles",
        "kernel": "decode_kernel",
        "file": "kernels/decode.py",
        "source_sha256": "a" * 64,
        "candidate_sha256": "b" * 64,
        "settings": {"variants": {"loop-2w": {"form": "loop"}, "wide-4w": {"form": "widen"}}},
        "level": "timing",
        "verdict": "faster",
        "workloads": rows,
        "timing": timing,
        "findings": (
            {"code": "slower_here", "message": "loop-2w is slower on small: 0.84x", "place": {"workload": "small"},
             "measured": "cuda graph, cold L2", "hint": "the guard keeps the original there"},
            {"code": "control_failed", "message": "the control is off", "severity": "warning"},
        ),
        "environment": {"device": "NVIDIA H200", "architecture": "sm_90", "triton": "3.6.0", "clock_mhz": 1980.0},
        "measured_at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "protocol": {"timing": {"faster_above": 1.03, "slower_below": 0.97, "final_samples": 50}},
    }  # fmt: skip
    return Evidence.model_validate(made | changes)


def checked(**changes: Any) -> Evidence:
    """A comparison in the interpreter: nothing was timed."""
    row = {
        "label": "two_tiles", "kind": "declared", "verdict": "equivalent", "cases_passed": 5, "cases_wrong": 0,
        "cases_not_counted": 1, "seeds": [0, 77],
        "errors": {"0": {"candidate_rms_error": 1.94e-08, "original_rms_error": 1.95e-08}},
    }  # fmt: skip
    made = timed().model_dump() | {
        "level": "numerics",
        "verdict": "equivalent",
        "workloads": (row,),
        "timing": {},
        "compile": {
            "target": "sm_90",
            "original": {"name": "original", "registers": 38, "spill_bytes": 0, "num_warps": 1},
            "candidate": {"name": "loop-2w", "registers": 40, "spill_bytes": 8, "num_warps": 2},
        },
        "numerics": {"class": "reassociated", "device": "cpu", "sentinels": {"tried": 24, "rejected": 24}},
        "findings": (),
        "environment": {"device": "cpu (interpreter)", "triton": "3.7.1"},
    }
    return Evidence.model_validate(made | changes)


def losing() -> Evidence:
    """A timing in which nothing was worth choosing anywhere."""
    rows = [
        workload(label, {"loop-2w": (0.9, 0.85), "wide-4w": (0.8, 0.82)}, "original", "neutral") for label in LABELS
    ]
    timing = dict(timed().timing) | {"variants": [], "guarded": True, "geometric_mean": {}}
    return timed(verdict="slower", workloads=rows, timing=timing, candidate_sha256=None, settings={})


def unfinished() -> Evidence:
    """A timing that ended before any final."""
    rows = [{"label": "small", "parameters": {}, "chosen": "original", "sound": False, "verdict": "inconclusive"}]
    timing = {"timed": True, "timer": "cuda graph", "guarded": False, "variants": [], "screening": []}
    return timed(verdict="inconclusive", workloads=rows, timing=timing, candidate_sha256=None, settings={}, findings=())


def piece(evidence: Evidence, key: str = "0123456789abcdef" * 4) -> Piece:
    return Piece(key, evidence, EvidenceStatus.STALE, ("triton 3.6 is now 3.7",))
