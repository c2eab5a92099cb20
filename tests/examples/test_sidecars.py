"""The sidecars for real packages: their own parts everywhere, the packages' kernels where the wheels are at hand."""

from __future__ import annotations

import inspect
import os
import runpy
from pathlib import Path

import pytest

from skel.store.schema import Verdict
from skel.validation.check import check
from skel.validation.workloads import SidecarError, target_of
from skel.validation.workloads.target import read_declared

SIDECARS = Path(__file__).resolve().parents[2] / "examples" / "sidecars"
NAMES = sorted(path.stem for path in SIDECARS.glob("*.py"))


def test_the_four_sidecars_are_there() -> None:
    assert NAMES == [
        "fla_kda_recurrent",
        "sglang_gating_delta_rule",
        "sglang_kda_packed_decode",
        "sglang_kda_replay_decode",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_references_take_the_inputs_and_leave_them_alone(name: str) -> None:
    torch = pytest.importorskip("torch")
    sidecar = runpy.run_path(str(SIDECARS / f"{name}.py"))
    for workload in sidecar["WORKLOADS"]:
        case = {key: value for key, value in workload.items() if key != "name"}
        inputs = {
            key: value.double() if value.is_floating_point() else value
            for key, value in sidecar["make_inputs"](0, **case).items()
        }
        before = {key: value.clone() for key, value in inputs.items()}
        outputs = sidecar["reference"](inputs)
        assert all(torch.equal(before[key], value) for key, value in inputs.items())
        assert all(o.dtype == torch.float64 and torch.isfinite(o).all() and o.abs().max() > 0 for o in outputs)


@pytest.mark.parametrize("name", NAMES)
def test_workloads_are_named_and_fit_make_inputs(name: str) -> None:
    sidecar = runpy.run_path(str(SIDECARS / f"{name}.py"))
    signature = inspect.signature(sidecar["make_inputs"])
    workloads = sidecar["WORKLOADS"] + sidecar["GPU_WORKLOADS"]
    assert len({workload["name"] for workload in workloads}) == len(workloads)
    for workload in workloads:
        signature.bind(0, device="cpu", **{key: value for key, value in workload.items() if key != "name"})
    declared = read_declared((SIDECARS / f"{name}.py").read_text(), name)
    assert declared.package is not None
    assert "==" in declared.package


@pytest.mark.skipif("SKEL_SOURCES" not in os.environ, reason="SKEL_SOURCES names no folder with the wheels")
@pytest.mark.parametrize("name", NAMES)
def test_the_packages_kernels_agree_with_the_references(name: str) -> None:
    sidecar = str(SIDECARS / f"{name}.py")
    try:
        path, text = target_of(sidecar)
    except SidecarError as missing:
        pytest.skip(str(missing))
    report = check(text, [f"{text}\n# the same\n"], path, workload_file=sidecar)
    assert report.candidates[0].verdict is Verdict.EQUIVALENT
    assert not [f for f in report.findings if f.code == "reference_disagrees"]
