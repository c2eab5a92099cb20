"""The table of results: counts of what was read, applied, refused, run and compiled, as JSON and as a page."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from .state import VERSIONS, Lines

RESULTS = Path(__file__).parent / "results"
LOOKED_AT = 20
"""Refusal codes with more hits than this have notes in results/refusals.json."""
WRONG = ("differs", "bounds", "error", "died")


def write_table(work: Path, results: Path = RESULTS) -> dict[str, Any]:
    """Writes results/table.json and results/README.md from what the steps left in `work`."""
    applied = Lines(work / "applied.jsonl").read()
    ran = Lines(work / "ran.jsonl").read()
    captured = Lines(work / "captured.jsonl").read()
    table = {
        "versions": json.loads((work / VERSIONS).read_text(encoding="utf-8")),
        "files": files(applied),
        "skeletons": by_skeleton(applied),
        "operators": {key: operators(one) for key, one in sorted(captured.items())},
        "runs": runs(ran),
    }
    results.mkdir(exist_ok=True)
    (results / "table.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    (results / "README.md").write_text(page(table), encoding="utf-8")
    return table


def files(applied: dict[str, Any]) -> dict[str, Any]:
    """By package: files, those read, those that come back byte for byte, kernels, and faults of ours."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for key, one in applied.items():
        if "broken" in one:
            found[key.split("/")[0]].update(files=1, faults=1)
            continue
        count = found[one["package"]]
        count.update(files=1, read=one["read"], round_trip=one.get("round_trip", False), faults=len(one["faults"]))
        count.update(jit_functions=one.get("jit_functions", 0), kernels=len(one["kernels"]))
    return {package: dict(count) for package, count in sorted(found.items())}


def by_skeleton(applied: dict[str, Any]) -> dict[str, Any]:
    """By skeleton: kernels it was applied to, candidates, kernels where a detector sees an opportunity, refusals."""
    found: dict[str, dict[str, Any]] = {}
    for one in applied.values():
        for kernel in one.get("kernels", ()):
            for name, outcome in kernel["skeletons"].items():
                row = found.setdefault(name, {"applied": 0, "candidates": 0, "refused": 0, "codes": Counter()})
                if isinstance(outcome, int):
                    row["applied"] += 1
                    row["candidates"] += outcome
                elif isinstance(outcome, list):
                    row["refused"] += 1
                    row["codes"][outcome[0][0]] += 1
    for row in found.values():
        row["codes"] = dict(row["codes"].most_common())
    return dict(sorted(found.items()))


def operators(one: dict[str, Any]) -> dict[str, Any]:
    """Of one capture: how many calls were recorded, and what was left out."""
    said = one["operators"]
    return {"called": sum(s.startswith("called") for s in said), "left_out": [s for s in said if s.startswith("left")]}


def runs(ran: dict[str, Any]) -> dict[str, Any]:
    """Originals and variants by outcome, interpreted and compiled; the kernels; everything that is wrong."""
    found: dict[str, Any] = {}
    for how in ("interpret", "compile"):
        originals: Counter[str] = Counter()
        variants: Counter[str] = Counter()
        skeletons: dict[str, Counter[str]] = defaultdict(Counter)
        kernels: set[tuple[str, str, str]] = set()
        wrong = []
        for key, one in ran.items():
            if "broken" in one and key.endswith(how):
                wrong.append({"file": key, "variant": "", "is": "broken", "why": one["broken"]})
            if how not in one:
                continue
            results = one[how]
            good = {
                kernel
                for number, _, own in one["calls"]
                if results.get(f"original:{number}", {}).get("is") in ("equal", "close", "compiled")
                for kernel in own
            }
            kernels |= {(one["package"], one["path"], kernel) for kernel in good}
            originals.update(results.get(f"original:{n}", {"is": "absent"})["is"] for n, _, _ in one["calls"])
            for name, held in one["variants"].items():
                word = results.get(name, {"is": "absent"})["is"]
                variants[word] += 1
                for skeleton, kernel in held["steps"]:
                    if kernel in good:
                        skeletons[skeleton][word] += 1
            for name, result in results.items():
                if not name.startswith("original:") and result["is"] in (*WRONG, "failed"):
                    wrong.append({"file": f"{one['package']}/{one['path']}", "variant": name, **result})
        found[how] = {
            "kernels": len(kernels),
            "names": len({(path, kernel) for _, path, kernel in kernels}),
            "originals": dict(originals.most_common()),
            "variants": dict(variants.most_common()),
            "skeletons": {name: dict(count.most_common()) for name, count in sorted(skeletons.items())},
            "wrong": wrong,
        }
    return found


STEPS = {"applied": "read and rewritten", "captured": "captured", "ran": "run and compiled"}


def _made_with(made: list[dict[str, str]]) -> str:
    return "; ".join(", ".join(f"{name} {version}" for name, version in one.items()) for one in made)


def page(table: dict[str, Any]) -> str:
    """The table for people."""
    lines = [
        "# The gauntlet's results",
        "",
        "Written by `python -m tests.gauntlet table`; table.json has the same and more.",
        "",
        *(f"- {STEPS[step]} with {_made_with(made)}" for step, made in sorted(table["versions"].items())),
        "",
        "| package | Triton files | read | byte for byte | jit functions | kernels | internal errors |",
        "|---|---|---|---|---|---|---|",
    ]
    for package, row in table["files"].items():
        numbers = [row.get(k, 0) for k in ("files", "read", "round_trip", "jit_functions", "kernels", "faults")]
        lines.append(f"| {package} | {' | '.join(map(str, numbers))} |")
    lines += ["", "## Run and compiled", ""]
    for how, words in (("interpret", "in the interpreter"), ("compile", "compiled for sm_90")):
        run = table["runs"][how]
        lines.append(
            f"- {words}: {run['kernels']} kernels ({run['names']} by file and name) whose original is good; "
            f"rewritten files: {_counts(run['variants'])}; wrong or failed: {len(run['wrong'])}."
        )
    lines += [
        "",
        "## Skeletons",
        "",
        "Applied and refused over every kernel of the three packages; refusals by their first code.",
        "",
        "| skeleton | applied | candidates | refused | ran equivalent | compiled | refusal codes |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in table["skeletons"].items():
        ran = table["runs"]["interpret"]["skeletons"].get(name, {})
        built = table["runs"]["compile"]["skeletons"].get(name, {})
        good = ran.get("equal", 0) + ran.get("close", 0)
        lines.append(
            f"| {name} | {row['applied']} | {row['candidates']} | {row['refused']} | {good} | "
            f"{built.get('compiled', 0)} | {_counts(row['codes'])} |"
        )
    return "\n".join(lines) + "\n"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{key} {number}" for key, number in counts.items()) or "none"
