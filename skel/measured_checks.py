"""The part of docs/measurements.md on what was checked on a GPU beside timing: cheats caught, captures replayed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skel.measured import section_of

CHECKS = "docs/measured/gpu_checks.json"


def checks_section(clone: Path) -> list[str]:
    """The section; empty where nothing was checked."""
    return section_of(clone / CHECKS, _section)


def _section(data: dict[str, Any]) -> Iterator[str]:
    where, exploits, capture = data["environment"], data["exploits"], data["capture"]
    tried = len(exploits["caught"]) + len(exploits["missed"])
    yield "## What else was checked on the GPU"
    yield ""
    yield (
        f"{where['device']}, driver {where['driver']}, torch {where['torch']}, Triton {where['triton']}; "
        f"{data['measured_at'][:10]}."
    )
    yield ""
    yield (
        f"- cheats that only a GPU allows (tests/validation/exploits): {len(exploits['caught'])} of {tried} caught by "
        f"name ({', '.join(exploits['caught'])}); honest candidates beside them "
        f"{'pass' if exploits['honest_candidates_pass'] else 'do not pass'}"
    )
    calls = capture["calls"]
    tensors, equal = (sum(one[key] for one in calls) for key in ("tensors", "equal"))
    yield (
        f"- {capture['script']} with {capture['package']} ({capture['license']}), captured and replayed in a fresh "
        f"process: {len(calls)} calls of {len({one['name'] for one in calls})} operators, {equal} of {tensors} tensors "
        f"equal to the bit"
    )
    yield ""
