"""What a technique is worth in experts' own kernels, as it was measured by taking it out, from data that ships."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

Row = dict[str, Any]
SHIPPED = "ablation.json"
"""In the folder of the skeletons: what `python -m skel.validation.ablation.run` wrote."""
CONCLUSIVE = ("pays", "costs", "neutral")


def ablated_of(name: str) -> dict[str, Any]:
    """Of a skeleton: `rows`, their `summary`, `environment` and `measured_at`; empty where nothing was measured."""
    return of_technique(_shipped(), name)


def of_technique(data: dict[str, Any], name: str) -> dict[str, Any]:
    """The part of a table that a technique has. Each row holds the package, its version and licence, and the shape."""
    summary = data.get("summary", {}).get("techniques", {}).get(name)
    if summary is None:
        return {}
    rows = [placed(data, row) for row in data["rows"] if row["technique"] == name]
    where = {key: data[key] for key in ("environment", "timer", "measured_at", "protocol")}
    return {**where, "summary": summary, "rows": rows}


def placed(data: dict[str, Any], row: Row) -> Row:
    """The row with what the table holds once for all of a case or a package."""
    case = data["cases"][row["case"]]
    source = next(s for s in data["sources"] if s["name"] == case["source"])
    names = {"source": source["name"], "source_version": source["version"], "licence": source["licence"]}
    return {**names, "shape": case["shape"], **row}


def telling(rows: list[Row], most: int) -> list[Row]:
    """The rows at both ends, greatest ratio first; of the conclusive ones no more than `most`."""
    ordered = sorted((r for r in rows if r["verdict"] in CONCLUSIVE), key=lambda r: -r["ratio"][0])
    if len(ordered) <= most:
        return ordered
    return ordered[: most - most // 2] + ordered[-(most // 2) :]


def verdicts(summary: dict[str, Any]) -> str:
    """`18 pays, 1 costs, 3 neutral` without those that did not occur."""
    return ", ".join(f"{summary[v]} {v}" for v in (*CONCLUSIVE, "inconclusive", "no trace") if summary[v])


@cache
def _shipped() -> dict[str, Any]:
    from skel.store.packaged import packaged_folder

    path = packaged_folder() / SHIPPED
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found
