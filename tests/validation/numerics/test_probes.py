"""Faults that no single run shows: a bad configuration, an order, a batch size, a state that is not handed on."""

from __future__ import annotations

from skel.validation.check import check
from skel.validation.isolation import Workers
from skel.validation.report import CandidateCheck
from skel.validation.subject import CandidateSource

from ..conftest import QUICK, FixtureText

NEIGHBOUR = """
import torch
import triton
import triton.language as tl

@triton.jit
def sum_kernel(x, y, D: tl.constexpr):
    i = tl.program_id(0)
    total = tl.sum(tl.where(tl.arange(0, D) <= i, tl.load(x + tl.arange(0, D)), 0.0))
    tl.store(y + i, total)

def run(inputs):
    x = inputs["x"]
    y = torch.zeros(x.numel() + 1)[1:]
    sum_kernel[(x.numel(),)](x, y, D=x.numel())
    return y

def make_inputs(seed, D=8, device="cpu"):
    return {"x": torch.randn(D, generator=torch.Generator().manual_seed(seed)).to(device)}

WORKLOADS = [{"D": 8}]
"""
"""Sums up to each element; a candidate may add its own element to what its neighbour has stored."""


def judged(workers: Workers, text: str, path: str, candidates: dict[str, str]) -> dict[str, CandidateCheck]:
    sources = [CandidateSource(name, one) for name, one in {"itself": text, **candidates}.items()]
    report = check(text, sources, path, workers=workers, protocol=QUICK)
    found = {one.name: one for one in report.candidates}
    assert found["itself"].verdict.value == "equivalent", (report.findings, found["itself"].all_findings)
    return found


def codes(checked: CandidateCheck, severity: str = "error") -> set[str]:
    return {finding.code for finding in checked.all_findings if finding.severity == severity}


def test_each_configuration_alone(interpreting: Workers, fixture_text: FixtureText) -> None:
    """The second configuration is never chosen here; a shared output buffer would hide it on a GPU."""
    quiet = ('    if not torch.equal(y, x + x):\n        raise ValueError("the launch did nothing")\n', "")
    text = fixture_text("tuned.py", quiet)
    wrong = text.replace("tl.load(x + o) * 2)", "tl.load(x + o) * (2 if BD == 8 else 3))")
    checked = judged(interpreting, text, fixture_text.path("tuned.py"), {"wrong": wrong})["wrong"]
    assert checked.verdict.value == "wrong" and codes(checked) == {"autotune_config_wrong"}
    (finding,) = {f.message for f in checked.all_findings if f.code == "autotune_config_wrong"}
    assert "double_kernel" in finding and "'BD': 16" in finding


def test_programs_in_another_order(interpreting: Workers) -> None:
    racing = NEIGHBOUR.replace("tl.where(tl.arange(0, D) <= i,", "tl.where(tl.arange(0, D) == i,").replace(
        "(y + i, total)", "(y + i, total + (tl.load(y + i - 1) if i > 0 else 0.0))"
    )
    checked = judged(interpreting, NEIGHBOUR, "sums.py", {"racing": racing})["racing"]
    assert checked.verdict.value == "wrong" and codes(checked) == {"order_dependent"}


def test_batches_and_parts(interpreting: Workers, fixture_text: FixtureText) -> None:
    name = "recurrence.py"
    forgets = fixture_text(name, ("h = tl.load(h0 + i * D + lane)", "h = tl.zeros([D], tl.float32)"))
    by_batch = fixture_text(name, ("    return {", "    o *= 1.5 if B == 1 else 1.0\n    return {"))
    text = fixture_text(name)
    found = judged(interpreting, text, fixture_text.path(name), {"forgets": forgets, "by batch": by_batch})
    assert codes(found["forgets"]) == {"partition_differs"}
    assert codes(found["by batch"]) == {"not_batch_invariant"}


def test_what_the_original_does_not_pass_does_not_count(interpreting: Workers, fixture_text: FixtureText) -> None:
    name = "recurrence.py"
    text = fixture_text(name, ("h = tl.load(h0 + i * D + lane)", "h = tl.zeros([D], tl.float32)"))
    checked = judged(interpreting, text, fixture_text.path(name), {})["itself"]
    assert codes(checked, "warning") == {"partition_differs"}


def test_an_error_that_grows_is_said() -> None:
    import tempfile
    from pathlib import Path

    import torch

    from skel.validation.numerics import trees
    from skel.validation.numerics.probes.judge import judge_probe
    from skel.validation.protocol import Correctness

    with tempfile.TemporaryDirectory() as scratch:
        own = Path(scratch)
        whole = torch.ones(1, 64, 4)
        growth = torch.tensor([0.0, 1e-7, 4e-7, 2e-6]).repeat_interleave(16)[None, :, None]
        trees.save({"outputs": {"o": whole}, "inputs": {}}, own / "c000.0.pt")
        trees.save({"o": whole * (1 + growth)}, own / "c000.partition.4.pt")
        about = {"along": {"o": 1}, "bounds": [0, 16, 32, 48, 64]}
        probed = {"case": "c000", "kind": "partition", "probe": "partition.4", "about": about, "error": None}
        (found,) = judge_probe(probed, own, False, Correctness())
    assert found["code"] == "error_grows" and len(found["data"]["errors"]) == 4
