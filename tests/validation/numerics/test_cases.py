from types import SimpleNamespace
from typing import Any

import pytest
import torch

from skel.validation.numerics.cases import plan, seeds_of, shape_variations, sizes_near
from skel.validation.numerics.trees import flatten, load, map_tensors, save
from skel.validation.numerics.values import VALUE_CLASSES_FULL, apply_values
from skel.validation.protocol import Correctness
from skel.validation.workloads import Hooks, read_hooks

NUMBERS = Correctness()


def hooks(workloads: list[dict[str, Any]]) -> Hooks:
    def make_inputs(seed: int, N: int = 1, V: int = 64, K: int = 32, device: str = "cpu") -> dict[str, Any]:
        return {}

    module: Any = SimpleNamespace(run=print, make_inputs=make_inputs, WORKLOADS=workloads)
    return read_hooks(module)


def test_the_plan_by_default() -> None:
    cases = plan(hooks([{"name": "a", "N": 1, "V": 64}, {"V": 80}]), "cpu", False, NUMBERS)
    assert [case.workload for case in cases if case.kind == "declared"] == ["a", "a", "V=80", "V=80"]
    assert sum(case.kind == "stress" for case in cases) == 6
    assert cases[-1].kind == "shape" and cases[-1].parameters == {"N": 1, "V": 49}
    assert len({case.id for case in cases}) == len(cases)
    assert cases[0].reruns == 2 and cases[1].reruns == 1


def test_one_seed_cannot_be_known() -> None:
    drawn = {seeds_of(False, NUMBERS)[-1] for _ in range(8)}
    assert len(drawn) > 1
    assert len(seeds_of(True, NUMBERS)) == 5


def test_full_varies_every_size() -> None:
    varied = shape_variations(hooks([{"V": 64}]), "cpu", True, NUMBERS)
    assert {"V": 64, "K": 33} in varied and {"V": 65} in varied and {"V": 63} in varied and {"V": 64, "N": 2} in varied
    assert {"V": 64} not in varied
    assert len(varied) == len({tuple(sorted(v.items())) for v in varied})


def test_sizes() -> None:
    assert sizes_near(128, False) == [97]
    assert sizes_near(1, False) == []
    assert sizes_near(128, True) == [97, 129, 127, 64, 65]


@pytest.mark.parametrize("values", [name for name in VALUE_CLASSES_FULL if name != "strided"])
def test_value_classes_change_floats_only(values: str) -> None:
    packed = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    inputs = {"a": packed[:, :3], "b": packed[:, 3:], "index": torch.tensor([3, 1]), "scale": 0.5}
    before = map_tensors(torch.clone, inputs)
    changed = apply_values(inputs, values, NUMBERS)
    assert torch.equal(changed["index"], before["index"]) and changed["scale"] == 0.5
    assert changed["a"].untyped_storage().data_ptr() == changed["b"].untyped_storage().data_ptr()
    expected = {
        "large": before["a"] * 10,
        "small": before["a"] * 1e-3,
        "constant": torch.full((4, 3), float(before["a"][0, 0])),
        "zeros": torch.zeros(4, 3),
        "infinite": torch.cat([torch.full((1, 3), -torch.inf), before["a"][1:]]),
        "denormals": before["a"].sign() * torch.finfo(torch.float32).tiny / 8,
    }[values]
    assert torch.equal(changed["a"], expected)


def test_strided_inputs_hold_the_same_values_further_apart() -> None:
    given = {"x": torch.randn(4, 6), "v": torch.ones(3)}
    changed = apply_values(given, "strided", NUMBERS)
    assert torch.equal(changed["x"], given["x"]) and changed["x"].stride() == (6 + NUMBERS.stride_padding, 1)
    assert changed["v"] is given["v"]


def test_saved_views_stay_views_and_nothing_else_is_let_in(tmp_path: Any) -> None:
    packed = torch.arange(6.0)
    save({"a": packed[:3], "b": packed[3:], "n": [1, None, "x"]}, tmp_path / "t.pt")
    back = load(tmp_path / "t.pt")
    assert back["a"].untyped_storage().data_ptr() == back["b"].untyped_storage().data_ptr()
    assert back["n"] == [1, None, "x"]
    torch.save({"bad": SimpleNamespace()}, tmp_path / "bad.pt")
    with pytest.raises(Exception, match="Weights only load failed"):
        load(tmp_path / "bad.pt")


def test_names_of_leaves() -> None:
    assert flatten(1) == {"output": 1}
    assert flatten((1, {"x": [2, 3]})) == {"0": 1, "1.x.0": 2, "1.x.1": 3}
