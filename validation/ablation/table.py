"""The evidence that a state holds: a row a kernel, technique and shape. Pure.

A ratio is the time without the technique over the expert's: over 1 the technique pays there.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from ..protocol import Protocol
from ..timing.statistics import median
from .lines import Lines
from .timed import NUMBERS

Row = dict[str, Any]

PUT_IN = frozenset({"pointers_and_masks"})
"""Versions with which the technique is put in, since the expert's kernel does without: under 1 it pays there."""
TILE, WARPS = "tile_size", "num_warps"
"""Choices of the launch that are no skeleton's."""
VERDICTS = ("pays", "costs", "neutral", "inconclusive", "no trace")
EQUIVALENT = ("bitwise", "close")
_ROUNDS_OTHERWISE = ("approximate", "dtype_changed")
_FIGURES = ("registers", "spill_bytes", "shared_memory_bytes")


def table(plan: dict[str, Any], state: Lines) -> dict[str, Any]:
    """`rows` that were timed, where they were measured, the sources with their licences, and `summary`. Plain values.

    Only what was equivalent before it was timed has a row. `verdict` is of the technique: `pays`, `costs`, `neutral`,
    `inconclusive` where the expert's kernel against itself left the interval that controls are to hold, or `no trace`
    where the change rounds otherwise and yet moved no bit, register, memory or time: it may be in code that these
    arguments never reach, or say what held already.
    """
    from .cases import CASES

    timed = {_place(line): line for line in state.all("time") if "ratio" in line}
    checked = [line for line in state.all("check") if "equal" in line]
    rows = []
    for line in checked:
        measured = timed.get(_place(line))
        if measured and line["version"] in measured["ratio"] and line["equal"] in EQUIVALENT:
            known = plan["files"][line["file"]]["kernels"][line["kernel"]]
            rows.append(_row(line, measured, known, checked))
    rows.sort(key=lambda row: (row["technique"], row["version"], row["file"], row["kernel"], row["case"]))
    cases = sorted({row["case"] for row in rows})
    session = (state.all("session") or [{}])[-1]
    at = session.get("at")
    return {
        "environment": {k: v for k, v in session.get("environment", {}).items() if k != "power_watts"},
        "timer": session.get("timer"),
        "measured_at": datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds") if at else None,
        "protocol": NUMBERS | {"timing.control_interval": list(Protocol().timing.control_interval)},
        "sources": [{key: source[key] for key in ("name", "version", "licence")} for source in plan["sources"]],
        "cases": {name: {"source": CASES[name].source, "shape": CASES[name].shape} for name in cases},
        "summary": _counts(checked, rows) | {"techniques": summary(rows)},
        "rows": rows,
    }


def text(document: dict[str, Any]) -> str:
    """The table as JSON, a line a row."""
    lines = [json.dumps({key: value})[1:-1] for key, value in document.items() if key != "rows"]
    lines.append('"rows": [\n' + ",\n".join(json.dumps(row) for row in document["rows"]) + "\n]")
    return "{" + ",\n".join(lines) + "}\n"


def summary(rows: list[Row]) -> dict[str, Row]:
    """By technique: rows and kernels, how often each verdict, and the median, least and greatest conclusive ratio."""
    found: dict[str, Row] = {}
    for technique in sorted({row["technique"] for row in rows}):
        own = [row for row in rows if row["technique"] == technique]
        ratios = sorted(row["ratio"][0] for row in own if row["verdict"] not in ("inconclusive", "no trace"))
        verdicts = [row["verdict"] for row in own]
        found[technique] = {
            "rows": len(own),
            "kernels": kernels(own),
            **{verdict: verdicts.count(verdict) for verdict in VERDICTS},
            "ratio": [round(median(ratios), 4), ratios[0], ratios[-1]] if ratios else None,
        }
    return found


def kernels(rows: list[Row]) -> int:
    """How many kernels the rows are of."""
    return len({(row["file"], row["kernel"]) for row in rows})


def _counts(checked: list[Row], rows: list[Row]) -> Row:
    equal = [line["equal"] for line in checked]
    conclusive = [row for row in rows if row["verdict"] in ("pays", "costs", "neutral")]
    words = {"differs": "not_equivalent", "failed": "failed", "same code": "same_code"}
    return {
        "rows": len(rows),
        "kernels": kernels(rows),
        "conclusive_rows": len(conclusive),
        "conclusive_kernels": kernels(conclusive),
        "checked": len(checked),
        **{name: equal.count(word) for word, name in words.items()},
        "nothing_written": equal.count("nothing written"),
    }


def _place(line: Row) -> tuple[str, str, str]:
    return line["case"], line["file"], line["kernel"]


def _row(line: Row, measured: Row, known: Row, checked: list[Row]) -> Row:
    version = line["version"]
    figures = {name: [of.get(key) for key in _FIGURES] for name, of in line["figures"].items()}
    row = {
        "technique": _technique(line),
        "version": version,
        "change": _precisions(line, known, checked) if version.startswith("dots_in_") else line["change"],
        "file": line["file"],
        "line": known["line"],
        "kernel": line["kernel"],
        "case": line["case"],
        "configuration": line["configuration"],
        "equal": line["equal"],
        "tolerance": line.get("tolerance"),
        "microseconds": [measured["microseconds"]["original"], measured["microseconds"][version]],
        "ratio": _interval(measured["ratio"][version]),
        "control": _interval(measured["control"]),
        "samples": measured["samples"],
        "figures": figures,
    }
    unseen = line["numerics"] in _ROUNDS_OTHERWISE and line["equal"] == "bitwise"
    traceless = unseen and None not in figures["expert"] and figures["expert"] == figures["without"]
    verdict = _verdict(row)
    return {"verdict": "no trace" if traceless and verdict == "neutral" else verdict, **row}


def _technique(line: Row) -> str:
    """The skeleton's name. A smaller tile is `fuse_vtiles` undone where it is a tile of values and nothing else."""
    if line["version"] == "smaller_tile" and not re.fullmatch(r"BV \d+ to \d+", line["change"]):
        return TILE
    technique: str = line["technique"]
    return technique


def _precisions(line: Row, known: Row, checked: list[Row]) -> str:
    """`ieee to tf32`. The expert's precision is one that is not there to change to, or changes nothing."""
    every = {"tf32": "dots_in_tf32", "ieee": "dots_in_ieee"}
    siblings = {one["version"]: one["equal"] for one in checked if _place(one) == _place(line)}
    same = [p for p, name in every.items() if name not in known["inverses"] or siblings.get(name) == "bitwise"]
    return f"{same[0] if len(same) == 1 else 'tf32x3' if not same else 'any'} to {line['version'][8:]}"


def _verdict(row: Row) -> str:
    low, high = Protocol().timing.control_interval
    if not low <= row["control"][1] <= row["control"][2] <= high:
        return "inconclusive"
    slower, faster = row["ratio"][1] > high, row["ratio"][2] < low
    if row["version"] in PUT_IN:
        slower, faster = faster, slower
    return "pays" if slower else "costs" if faster else "neutral"


def _interval(value: dict[str, float]) -> list[float]:
    return [round(value[key], 4) for key in ("median", "low", "high")]
