"""A few files through the gauntlet, and what was seen of refusals. `python -m tests.gauntlet` runs all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skel.store.schema.codes import CODES

from .applying import try_file
from .sources import Source, unpacked, wheel
from .table import RESULTS

FILES = ("fla/ops/utils/cumsum.py", "fla/ops/delta_rule/fused_recurrent.py", "fla/ops/utils/softmax.py")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if wheel("fla_core-0.6.0") is None:
        pytest.skip("no wheel of fla-core 0.6.0: `make test` downloads it")
    return unpacked("fla_core-0.6.0", tmp_path_factory.mktemp("gauntlet"))


@pytest.mark.parametrize("path", FILES)
def test_a_file_is_read_written_back_and_rewritten_without_a_fault(package: Path, path: str) -> None:
    found = try_file(Source("fla_core-0.6.0", path, package / path))
    assert found["read"] and found["round_trip"]
    assert found["faults"] == []
    assert found["kernels"]
    outcomes = [outcome for kernel in found["kernels"] for outcome in kernel["skeletons"].values()]
    assert any(isinstance(outcome, int) and outcome > 0 for outcome in outcomes)
    assert all(outcome for outcome in outcomes if isinstance(outcome, list))


def test_refusals_that_were_looked_at_have_samples_and_a_note() -> None:
    notes = json.loads((RESULTS / "refusals.json").read_text(encoding="utf-8"))
    assert len(notes) >= 15
    for name, codes in notes.items():
        for code, held in codes.items():
            assert held["note"], (name, code)
            assert len(held["samples"]) == 10, (name, code)
            assert code in CODES, code
