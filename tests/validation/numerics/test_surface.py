"""What a run does to its caller beside the values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from skel.validation.numerics import trees
from skel.validation.numerics.judge_surface import surface
from skel.validation.numerics.modes import depths, strip
from skel.validation.numerics.probes.judge import judge_probe
from skel.validation.numerics.settings import Settings
from skel.validation.numerics.surface import Surface, own_methods
from skel.validation.protocol import Correctness

QUIET: dict[str, Any] = {
    **{name: [] for name in ("moved", "touched", "written_inputs", "shared", "reused")},
    **{"layouts": {}, "random": False, "modes": 0},
}


def told(candidate: dict[str, Any], original: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    found = surface([QUIET | candidate], [QUIET | (original or {})], (), [])
    return [(one["code"], one["severity"]) for one in found]


def layout(*strides: int, requires_grad: bool = False) -> dict[str, Any]:
    return {"layouts": {"y": {"sizes": [3, 11], "strides": list(strides), "requires_grad": requires_grad}}}


def test_a_layout_is_a_warning_and_one_that_overlaps_an_error() -> None:
    assert told(layout(11, 1), layout(11, 1)) == []
    assert told(layout(1, 3), layout(11, 1)) == [("layout_differs", "warning")]
    assert told(layout(0, 1), layout(11, 1)) == [("layout_differs", "error")]
    assert told(layout(0, 1), layout(0, 2)) == [("layout_differs", "warning")]
    assert told(layout(11, 1, requires_grad=True), layout(11, 1)) == [("layout_differs", "warning")]


@pytest.mark.parametrize(
    ("seen", "code"),
    [
        ({"moved": ["x"]}, "input_changed"),
        ({"touched": ["x"]}, "input_borrowed"),
        ({"written_inputs": ["x"]}, "input_borrowed"),
        ({"shared": [["output y", "input x"]]}, "output_aliases"),
        ({"reused": ["y"]}, "output_reused"),
        ({"modes": 1}, "setting_changed"),
    ],
)
def test_what_the_original_does_too_is_no_finding(seen: dict[str, Any], code: str) -> None:
    assert told(seen) == [(code, "error")]
    assert told(seen, seen) == []


def test_inputs_and_outputs_are_looked_at() -> None:
    x, w = torch.zeros(4), torch.zeros(2)
    before = Surface({"x": x, "w": w})
    x.add_(1)
    w.data = torch.ones(2)
    torch.rand(1)
    seen = before.facts({"x": x, "w": w}, {"y": x[1:], "z": torch.zeros(3).expand(2, 3)})
    assert (seen["touched"], seen["moved"], seen["random"]) == (["x"], ["w"], True)
    assert seen["shared"] == [["output y", "input x"]] and seen["layouts"]["z"]["strides"] == [0, 1]


def test_methods_on_a_tensor_are_seen_and_other_attributes_are_not() -> None:
    x = torch.zeros(2)
    x.loader = lambda: None  # type: ignore[attr-defined]
    assert own_methods(x) == []
    x.detach = lambda: x  # type: ignore[method-assign]
    assert own_methods(x) == ["detach"]


def test_modes_that_are_left_on_are_taken_off() -> None:
    from torch.overrides import TorchFunctionMode

    before = depths()
    TorchFunctionMode().__enter__()
    assert strip(before) == 1 and depths() == before and strip(before) == 0


def test_settings_are_told_with_what_they_were() -> None:
    settings = Settings()
    assert settings.changed() == []
    torch.set_default_dtype(torch.float64)
    try:
        changed = settings.changed()
    finally:
        torch.set_default_dtype(torch.float32)
    assert changed == [{"name": "torch.get_default_dtype()", "before": "torch.float32", "after": "torch.float64"}]


def test_a_run_that_returns_nothing_is_no_kept_result(tmp_path: Path) -> None:
    trees.save({"outputs": {"output": None}}, tmp_path / "c1.0.pt")
    trees.save({}, tmp_path / "c0.same_memory.pt")
    about = {"expected": "c1", "earlier": "seed 0"}
    probed = {"case": "c0", "kind": "same_memory", "probe": "same_memory", "about": about, "error": None}
    assert judge_probe(probed, tmp_path, False, Correctness()) == []


def test_a_file_that_is_written_again_has_another_seal(tmp_path: Path) -> None:
    path = tmp_path / "c0.0.pt"
    trees.save({"outputs": {}}, path)
    before = trees.seal(path)
    assert trees.seal(path) == before
    path.write_bytes(path.read_bytes())
    assert trees.seal(path) != before
