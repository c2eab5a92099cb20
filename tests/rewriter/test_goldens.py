"""Golden files: each kernel rewritten is the file beside it; original and result agree when they run, and compile."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SKELETONS = HERE.parents[1] / "skeletons"
PRIMITIVES = {
    "div_to_reciprocal": "div_to_reciprocal",
    "exp_to_exp2": "exp_to_exp2",
    "set_dot_precision": "dot_tf32x3",
    "widen_index": "int64_offsets",
    "reuse_subexpression": "reuse_subexpression",
    "pipeline_loads": "pipeline_loads",
    "cache_hints": "cache_hints",
    "elide_masks": "elide_masks",
    "split_tiles": "split_tiles",
    "block_pointer_to_mask": "block_pointer_to_mask",
    "relax_specialization": "relax_specialization",
    "defer_state_load": "defer_state_load",
    "hoist_producer": "hoist_producer",
    "reorder_grid": "reorder_grid",
    "persistent_grid": "persistent_grid",
    "parallelise_loop": "parallelise_loop",
    "split_k": "split_k",
    "alignment_hints": "alignment_hints",
    "specialise_clone": "specialise_clone",
    "widen_autotune": "widen_autotune",
}
ARGUMENTS: dict[str, dict[str, object]] = {"first_round": {"form": "first_round"}, "flagged_rows": {"value": 0}}
"""Arguments by the name of a file, where they are not the default."""


def _pairs() -> list[tuple[str, Path, Path]]:
    found = []
    for primitive, skeleton in PRIMITIVES.items():
        for folder in (HERE / "golden" / primitive, SKELETONS / skeleton / "cases"):
            after = [p for p in sorted(folder.glob("*.py")) if p.stem.endswith("_after")]
            found += [(primitive, p.with_name(p.name.replace("_after", "")), p) for p in after]
    return found


PAIRS = _pairs()


def _run(mode: str) -> dict[str, str]:
    """Name of each pair to "" or what went wrong, from one process: Triton interprets or compiles, never both."""
    tasks = json.dumps([[f"{p}/{before.stem}", p, str(before), str(after)] for p, before, after in PAIRS])
    done = subprocess.run(
        [sys.executable, str(HERE / "run_pairs.py"), mode],
        input=tasks,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    result: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_there_are_goldens_for_every_primitive() -> None:
    assert {p for p, _, _ in PAIRS} == set(PRIMITIVES) and len(PAIRS) >= 12


@pytest.mark.parametrize(("primitive", "before", "after"), PAIRS, ids=lambda x: x if isinstance(x, str) else x.stem)
def test_golden(assert_golden: Callable[..., None], primitive: str, before: Path, after: Path) -> None:
    assert_golden(primitive, before, after, **ARGUMENTS.get(before.stem, {}))


@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_results_agree_and_compile(mode: str) -> None:
    problems = {name: problem for name, problem in _run(mode).items() if problem}
    assert not problems
