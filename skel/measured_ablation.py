"""The part of docs/measurements.md on ablation: techniques taken out of experts' own kernels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skel.ablated import placed, telling
from skel.measured import section_of

ABLATION = "docs/measured/ablation.json"
"""What `python -m skel.validation.ablation.run` wrote."""
MOST = 8
"""Rows of one technique that are printed; the file has them all."""
MEANING = (
    "- A ratio is the time without the technique over the expert's, with a 95 % interval: over 1 the technique pays "
    "there. Only `pointers_and_masks` is the other way round: the expert has block pointers, and the skeleton is put "
    "in, so it pays under 1.",
    "- Every row was equivalent before it was timed, to the bit or within the tolerance of its class. `pays` and "
    "`costs` need the whole interval outside {low} to {high}; `inconclusive` is a row whose control, the expert's "
    "kernel against itself, left those bounds.",
    "- `no trace`: the change rounds otherwise and yet moved no bit, register, memory or time, so it may be in code "
    "that these arguments never reach, or say what held already. It counts for nothing. `neutral` holds also what the "
    "compiler may have made the same code of.",
    "- `exp2_to_exp` is an upper bound, since it multiplies by ln 2 at each exponential. The versions of "
    "`dot_tf32x3` go from the expert's precision to another one, and what such a product costs is paid for accuracy.",
    "- `widen_autotune` and the tiles compare what a tuner chose among up to three configurations with another of its "
    "list, where it did not choose that one; `num_warps` and `tile_size` are no skeletons.",
)


def ablation_section(clone: Path) -> list[str]:
    """The section; empty where nothing was measured."""
    return section_of(clone / ABLATION, _section)


def _section(data: dict[str, Any]) -> Iterator[str]:
    where, counts, numbers = data["environment"], data["summary"], data["protocol"]
    sources = ", ".join(
        f"{s['name']} {s['version']} ({s['licence']})"
        for s in data["sources"]
        if s["name"] in {case["source"] for case in data["cases"].values()}
    )
    low, high = numbers["timing.control_interval"]
    samples = numbers["timing.final_samples"] * numbers["timing.final_trials"]
    yield "## What experts' choices are worth: techniques taken out of their own kernels"
    yield ""
    yield (
        f"{sources}; {where['device']}, driver {where['driver']}, torch {where['torch']}, Triton {where['triton']}; "
        f"{data['timer']}, cold L2, {samples} samples and more; measured {data['measured_at'][:10]}. "
        f"{counts['rows']} rows of {counts['kernels']} kernels, "
        f"{counts['conclusive_rows']} rows of {counts['conclusive_kernels']} kernels conclusive. Not timed: "
        f"{counts['same_code']} that were compiled to the same code, {counts['nothing_written']} launches that left "
        f"memory as it was, {counts['not_equivalent']} not equivalent, {counts['failed']} failed."
    )
    yield ""
    yield from (line.format(low=low, high=high) for line in MEANING)
    yield ""
    keys = ("kernels", "rows", "pays", "costs", "neutral", "inconclusive", "no trace")
    yield "| " + " | ".join(["technique", *keys, "median", "least", "greatest"]) + " |"
    yield "|---" * (len(keys) + 4) + "|"
    for name, one in counts["techniques"].items():
        ratios = [f"{value:.3f}" for value in one["ratio"]] if one["ratio"] else ["-"] * 3
        yield "| " + " | ".join([name, *(str(one[key]) for key in keys), *ratios]) + " |"
    yield ""
    yield f"Of each technique the rows at both ends, {MOST} at most; {ABLATION} has all."
    yield ""
    yield "| technique | version | kernel | shape | expert µs | without µs | ratio | control | verdict |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name in counts["techniques"]:
        for row in telling([r for r in data["rows"] if r["technique"] == name], MOST):
            yield _row(placed(data, row))


def _row(row: dict[str, Any]) -> str:
    median, low, high = row["ratio"]
    cells = [
        row["technique"],
        f"{row['version']}: {row['change']}",
        f"{row['source']} {row['file'].rsplit('/', 1)[-1]} {row['kernel']}",
        row["shape"],
        *(f"{value:.2f}" for value in row["microseconds"]),
        f"{median:.3f} ({low:.3f} to {high:.3f})",
        f"{row['control'][0]:.3f}",
        row["verdict"],
    ]
    return "| " + " | ".join(cells) + " |"
