from types import SimpleNamespace
from typing import Any

import pytest

from skel.validation.workloads import MissingHooks, label_of, parameters_of, read_hooks


def module(**names: Any) -> Any:
    return SimpleNamespace(**names)


def make_inputs(seed: int, D: int = 8, flag: bool = True, device: str = "cpu") -> dict[str, Any]:
    return {"seed": seed, "D": D, "device": device}


def test_a_label_is_not_passed() -> None:
    workload = {"name": "small", "D": 4}
    assert label_of(workload) == "small"
    assert parameters_of(workload) == {"D": 4}
    assert label_of({"D": 4, "B": 2}) == "D=4, B=2"
    assert label_of({}) == "default"


def test_workloads_of_the_device() -> None:
    hooks = read_hooks(module(run=print, make_inputs=make_inputs, WORKLOADS=[{"D": 4}], GPU_WORKLOADS=[{"D": 64}]))
    assert hooks.workloads_for("cpu") == ({"D": 4},)
    assert hooks.workloads_for("cuda") == ({"D": 64},)
    bare = read_hooks(module(run=print, make_inputs=make_inputs))
    assert bare.workloads_for("cpu") == bare.workloads_for("cuda") == ({},)


def test_inputs_get_seed_device_and_parameters() -> None:
    hooks = read_hooks(module(run=print, make_inputs=make_inputs))
    assert hooks.inputs(3, "cuda", {"D": 4}) == {"seed": 3, "D": 4, "device": "cuda"}
    assert hooks.integer_defaults() == {"D": 8}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"make_inputs": make_inputs}, "run not found"),
        ({}, "run and make_inputs not found"),
        ({"run": print, "make_inputs": make_inputs, "reference": 3}, "reference"),
        ({"run": print, "make_inputs": make_inputs, "WORKLOADS": {"D": 4}}, "WORKLOADS is not a list"),
        ({"run": print, "make_inputs": make_inputs, "GPU_WORKLOADS": [4]}, "GPU_WORKLOADS is not a list"),
        ({"run": print, "make_inputs": make_inputs, "WORKLOADS": [{"D": 4}, {"D": 4}]}, "two workloads called 'D=4'"),
    ],
)
def test_missing_or_malformed_hooks(names: dict[str, Any], message: str) -> None:
    with pytest.raises(MissingHooks, match=message):
        read_hooks(module(**names))


def test_inputs_must_be_a_dict() -> None:
    hooks = read_hooks(module(run=print, make_inputs=lambda seed, device: [1]))
    with pytest.raises(TypeError, match="returned a list"):
        hooks.inputs(0, "cpu", {})
