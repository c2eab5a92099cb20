"""Writes docs/measurements.md from what was measured and is committed: `make docs` in a clone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skel.measured_ablation import ablation_section
from skel.measured_again import again_section, composed_section
from skel.measured_agent import agent_section
from skel.measured_checks import checks_section
from skel.measured_controls import controls_section

MEASUREMENTS = "docs/measurements.md"


def measurements(clone: Path) -> str:
    """The page: every timing in `skeletons/*/evidence/`, winners and losers, and what timing itself is worth."""
    lines = [
        "# Measurements",
        "",
        "Written by `make docs` from `skeletons/*/evidence/*.json`; do not edit. Ratios are original over candidate,",
        "pair by pair, with a bootstrap 95 % interval; `*` marks what the guard chooses. The cold L2 decides the",
        "verdict. `original 4w 1s` is the original with its best warps and stages. The floor is the time in which the",
        "memory that is read and written can move.",
        "",
    ]
    timings = list(_timings(clone))
    for skeleton, evidence in timings:
        lines += [*_section(skeleton, evidence), ""]
    lines += composed_section(evidence for _, evidence in timings)
    lines += again_section(evidence for _, evidence in timings)
    lines += agent_section(clone)
    lines += controls_section(clone)
    lines += ["", *checks_section(clone)]
    lines += ablation_section(clone)
    return "\n".join(lines).rstrip() + "\n"


def _timings(clone: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    found = [(p.parent.parent.name, json.loads(p.read_text())) for p in (clone / "skeletons").glob("*/evidence/*.json")]
    timed = [(name, data) for name, data in found if data["level"] == "timing"]
    yield from sorted(timed, key=lambda pair: (pair[0], pair[1]["file"], pair[1]["measured_at"]))


def _section(skeleton: str, evidence: dict[str, Any]) -> Iterator[str]:
    where = evidence["environment"]
    yield f"## {skeleton}: {evidence['file']}"
    yield ""
    yield (
        f"Verdict: **{evidence['verdict']}**. {where['device']}, driver {where['driver']}, torch {where['torch']}, "
        f"Triton {where['triton']}; {evidence['timing']['timer']}; measured {evidence['measured_at'][:10]}."
    )
    yield ""
    yield from _means(evidence["timing"]["geometric_mean"])
    yield "| workload | version | cold µs | ratio | warm µs | ratio | of the floor, cold, warm | control | verdict |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in evidence["workloads"]:
        yield from _rows(row)


def _means(means: dict[str, Any]) -> Iterator[str]:
    words = {
        "": "the original as shipped",
        "_over_own": "the original's own best configuration",
        "_over_widened": "the best widened tile",
    }
    for suffix, against in words.items():
        pair = [means.get(f"{mode}{suffix}") for mode in ("cold", "warm")]
        if all(pair):
            yield f"- geometric mean over {against}: {_ratio(pair[0])} cold, {_ratio(pair[1])} warm"
    yield ""


def _rows(row: dict[str, Any]) -> Iterator[str]:
    names = sorted(row["candidates"], key=lambda name: (name != "original", name != "own", name))
    for name in names:
        data = row["candidates"][name]
        first = name == "original"
        shown = (row.get("own") or {}).get("name", "own") if name == "own" else name
        cells = [
            row["label"] if first else "",
            shown + (" *" if name == row["chosen"] else ""),
            _number(data["microseconds"].get("cold")),
            _ratio(data["ratio"].get("cold")),
            _number(data["microseconds"].get("warm")),
            _ratio(data["ratio"].get("warm")),
            f"{_share(data, 'cold')}, {_share(data, 'warm')}",
            _ratio((row.get("control") or {}).get("cold")) if first else "",
            row["verdict"] if first else "",
        ]
        yield "| " + " | ".join(cells) + " |"


def _ratio(value: dict[str, float] | None) -> str:
    return "" if not value else f"{value['median']:.3f} ({value['low']:.3f} to {value['high']:.3f})"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _share(data: dict[str, Any], mode: str) -> str:
    value = (data.get("of_floor") or {}).get(mode)
    return "-" if value is None else f"{value:.0%}"
