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


def test_there_are_sidecars_for_both_packages() -> None:
    assert {name.split("_")[0] for name in NAMES} == {"fla", "sglang"} and len(NAMES) >= 15


@pytest.mark.parametrize("name", NAMES)
def test_references_take_the_inputs_and_leave_them_alone(name: str) -> None:
    torch = pytest.importorskip("torch")
    sidecar = runpy.run_path(str(SIDECARS / f"{name}.py"))
    for workload in sidecar["WORKLOADS"]:
        case = {key: value for key, value in workload.items() if key != "name"}
        given = sidecar["make_inputs"](0, **case)
        inputs = {name: value.double() if _is_float(value) else value for name, value in given.items()}
        before = {name: value.clone() for name, value in inputs.items() if isinstance(value, torch.Tensor)}
        result = sidecar["reference"](inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        assert all(torch.equal(before[name], inputs[name]) for name in before)
        assert all(torch.isfinite(o).all() and o.abs().max() > 0 for o in outputs)
        assert all(o.dtype == torch.float64 for o in outputs if o.is_floating_point())


def _is_float(value: object) -> bool:
    return bool(getattr(value, "is_floating_point", lambda: False)())


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
