"""Every example agrees with its float64 reference in Triton's interpreter.

The interpreter is chosen before the first import and for a whole process, so each example has its own.
"""

import inspect
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))
CHANGES_INPUTS = {"kda_recurrent_decode": {"state"}}

# Prints, for each workload and seed, the largest error of each output as a share of what is allowed, and the inputs
# that changed. Allowed is atol + rtol * |r| with atol = rtol * rms(r) and rtol by the dtype of the output.
COMPARE = """
import json, runpy, sys, torch
example = runpy.run_path(sys.argv[1])
RTOL = {torch.float32: 1e-5, torch.bfloat16: 1e-2}
as_tuple = lambda x: x if isinstance(x, tuple) else (x,)
rows = []
for workload in example["WORKLOADS"]:
    for seed in (0, 1):
        case = {key: value for key, value in workload.items() if key != "name"}
        inputs = example["make_inputs"](seed, **case)
        before = {name: tensor.clone() for name, tensor in inputs.items()}
        expected = as_tuple(example["reference"](inputs))
        untouched = all(torch.equal(before[name], tensor) for name, tensor in inputs.items())
        outputs = as_tuple(example["run"](inputs))
        shares = []
        for c, r in zip(outputs, expected, strict=True):
            assert c.shape == r.shape and r.dtype == torch.float64 and torch.isfinite(r).all() and r.abs().max() > 0
            rtol = RTOL[c.dtype]
            allowed = rtol * r.square().mean().sqrt() + rtol * r.abs()
            shares.append(((c.double() - r).abs() / allowed).max().item())  # not a number fails the comparison too
        changed = [name for name in inputs if not torch.equal(before[name], inputs[name])]
        rows.append({"workload": workload["name"], "seed": seed, "shares": shares, "changed": changed,
                     "untouched_by_reference": untouched})
print(json.dumps(rows))
"""


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_its_float64_reference(name: str) -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", COMPARE, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) >= 4
    for row in rows:
        assert all(share <= 1 for share in row["shares"]), row
        assert set(row["changed"]) == CHANGES_INPUTS.get(name, set()), row
        assert row["untouched_by_reference"], row


@pytest.mark.parametrize("name", NAMES)
def test_workloads_are_named_and_fit_make_inputs(name: str) -> None:
    example = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    signature = inspect.signature(example["make_inputs"])
    workloads = example["WORKLOADS"] + example["GPU_WORKLOADS"]
    assert len({workload["name"] for workload in workloads}) == len(workloads)
    for workload in workloads:
        signature.bind(0, device="cpu", **{key: value for key, value in workload.items() if key != "name"})


def test_the_five_examples_are_there() -> None:
    expected = ["fp32_dot_chain", "gated_norm", "kda_decode", "kda_recurrent_decode", "masked_softmax"]
    assert expected == NAMES
