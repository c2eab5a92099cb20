"""Versions of a launch, whether two launches agree, and whether they are the same code."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from skel.validation.ablation.capture import Captured, marked_memory
from skel.validation.ablation.equal import difference, same_code
from skel.validation.ablation.standins import Standins
from skel.validation.ablation.versions import Modules, versions
from skel.validation.protocol import Protocol
from skel.validation.timing.recording import Launch, Recording

NUMBERS = Protocol().correctness
PTX = """.visible .entry k(
\t.loc\t1 4 {column}                           // {file}:4:{column}
$L__tmp{column}:
\tmov.u32 \t%r1, {value};
\t.file\t1 "/somewhere/{file}"
\t.section\t.debug_str
\t.b8 {column}
"""


def compiled(**parts: Any) -> Launch:
    made = PTX.format(**{"column": 21, "file": "a.py", "value": 1, **parts})
    return Launch(None, (), (1,), {}, SimpleNamespace(asm={"ptx": made}))


def test_the_same_instructions_from_other_places() -> None:
    assert same_code([compiled(), compiled(column=33, file="b.py")])
    assert not same_code([compiled(), compiled(value=2)])
    assert not same_code([compiled(), Launch(None, (), (1,), {}, None)])


@pytest.mark.parametrize(
    ("moved", "numerics", "equal"),
    [
        (0.0, "bitwise", "bitwise"),
        (1e-6, "bitwise", "differs"),
        (1e-6, "approximate", "close"),
        (1e-2, "approximate", "differs"),
        (1e-2, "dtype_changed", "close"),
        (1e-1, "dtype_changed", "differs"),
    ],
)
def test_how_far_results_may_move(moved: float, numerics: str, equal: str) -> None:
    right = {"0": torch.ones(64)}
    assert difference({"0": torch.ones(64) * (1 + moved)}, right, numerics, NUMBERS)["equal"] == equal


def test_nothing_finite_in_place_of_a_number_is_close() -> None:
    bad = torch.ones(64)
    bad[3] = torch.nan
    assert difference({"0": bad}, {"0": torch.ones(64)}, "dtype_changed", NUMBERS)["equal"] == "differs"


def test_memory_that_nobody_wrote_shows() -> None:
    with marked_memory():
        assert torch.empty(64).isnan().all() and (torch.empty(64, dtype=torch.int32) == 2**31 - 1).all()
    assert not torch.are_deterministic_algorithms_enabled()


def config(**kwargs: int) -> Any:
    launch = {key: kwargs.pop(key) for key in ("num_warps", "num_stages")}
    return SimpleNamespace(kwargs=kwargs, all_kwargs=lambda: {**kwargs, **launch})


def captured(tmp_path: Path, options: dict[str, Any], configs: list[Any], chosen: Any = None) -> Captured:
    path = tmp_path / "kernel.py"
    path.write_text("def k(): ...\n")
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space | {"__name__": __name__}, space)
    space["k"].__module__ = __name__
    launch = Launch(SimpleNamespace(fn=space["k"]), (), lambda meta: (1,), options)
    return Captured(launch, Recording([launch]), SimpleNamespace(every_config=configs) if configs else None, chosen)


def names(one: Captured, tmp_path: Path) -> dict[str, str]:
    return {v.name: v.change for v in versions(one, {}, Modules(tmp_path))}


def test_launches_without_a_tuner(tmp_path: Path) -> None:
    found = names(captured(tmp_path, {"num_warps": 8, "num_stages": 3}, []), tmp_path)
    assert found == {"half_the_warps": "num_warps 8 to 4", "one_stage": "num_stages 3 to 1"}
    assert names(captured(tmp_path, {"num_warps": 1, "num_stages": 1}, []), tmp_path) == {
        "twice_the_warps": "num_warps 1 to 2"
    }


def test_launches_of_a_tuner(tmp_path: Path) -> None:
    configs = [config(BV=32, num_warps=2, num_stages=2), config(BV=64, num_warps=4, num_stages=2)]
    options = {"BV": 64, "num_warps": 4, "num_stages": 2}
    assert names(captured(tmp_path, options, configs, configs[1]), tmp_path) == {
        "one_stage": "num_stages 2 to 1",
        "first_configuration": "BV 64 to 32, num_warps 4 to 2",
        "smaller_tile": "BV 64 to 32",
    }
    options = {"BV": 32, "num_warps": 2, "num_stages": 1}
    assert names(captured(tmp_path, options, configs[:1], configs[0]), tmp_path) == {}


def test_what_a_bundle_does_not_hold_is_absent_and_never_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "sglang" / "kernels").mkdir(parents=True)
    (tmp_path / "sglang" / "kernels" / "held.py").write_text("VALUE = 3\n")
    finder = Standins(tmp_path)
    assert finder.find_spec("numpy") is None
    held = finder.find_spec("sglang.kernels.held")
    assert held is not None and held.origin == str(tmp_path / "sglang" / "kernels" / "held.py")
    spec = finder.find_spec("sglang.srt.utils")
    assert spec is not None
    module = finder.create_module(spec)
    assert module.is_cuda() and not module.is_hip() and module.cdiv(7, 2) == 4
    assert not module.anything and module.register_custom_op(len) is len
    with pytest.raises(AttributeError):
        module.__wrapped__  # noqa: B018
