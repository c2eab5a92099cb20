import pytest

from skel.validation.compile.check import compile_check
from skel.validation.compile.report import CompileReport
from skel.validation.isolation import Workers
from skel.validation.protocol import Protocol
from skel.validation.subject import CandidateSource
from skel.validation.workloads import subject_of

from ..conftest import QUICK, FixtureText

WIDE = ("BD = 8", "BD = triton.next_power_of_2(D)")


def run(
    workers: Workers,
    path: str,
    text: str,
    *candidates: tuple[str, str],
    target: str = "sm_90",
    workload: str | None = None,
    protocol: Protocol = QUICK,
) -> tuple[CompileReport, dict[str, CompileReport]]:
    sources = [CandidateSource(name, changed) for name, changed in candidates]
    original, reports = compile_check(
        subject_of(text, path), sources, target=target, workload=workload, protocol=protocol, workers=workers
    )
    return original, {report.candidate: report for report in reports}


def codes(report: CompileReport) -> set[str]:
    return {finding.code for finding in report.findings}


def test_figures_findings_and_failures(compiling: Workers, fixture_text: FixtureText) -> None:
    name = "row_norm.py"
    quick = QUICK.override({"isolation.compile_seconds": 12})  # one of them hangs, and a busy machine is slow
    original, found = run(
        compiling,
        fixture_text.path(name),
        fixture_text(name),
        ("widened", fixture_text(name, WIDE, ("num_warps=1", "num_warps=8"))),
        ("misspelt", fixture_text(name, ("tl.sqrt(", "tl.squareroot("))),
        ("aborts", fixture_text(name, ("    BD = 8", "    import os; os.abort()"))),
        ("hangs", fixture_text(name, ("    BD = 8", "    while True: pass"))),
        (
            "launches nothing",
            fixture_text(name, ("def run(inputs):", "def run(inputs):\n    return reference(inputs)\n")),
        ),
        protocol=quick,
    )
    assert original.compiled and original.within_limits and original.workload == "wide"
    (kernel,) = original.kernels
    assert (kernel.kernel, kernel.grid, kernel.num_warps, kernel.constexprs["BD"]) == (
        "row_norm_kernel",
        (512, 64),
        1,
        8,
    )
    assert kernel.registers > 0 and kernel.spill_bytes == 0 and kernel.enable_fp_fusion is True
    assert kernel.instructions["transcendentals"] >= 1 and kernel.instructions["shuffles"] >= 5
    assert kernel.widest_reduction == 1

    widened = found["widened"]
    assert widened.compiled and widened.kernels[0].programs == 64
    assert widened.kernels[0].widest_reduction == 8 and widened.kernels[0].instructions["barriers"] > 0
    assert {"reduction_crosses_warps", "registers_changed"} <= codes(widened)

    (failed,) = found["misspelt"].findings
    assert (failed.code, failed.place.line) == ("compile_failed", 14)
    assert "squareroot" in failed.message
    assert codes(found["aborts"]) == {"worker_crashed"} and "SIGABRT" in found["aborts"].findings[0].message
    assert codes(found["hangs"]) == {"compile_timeout"}
    assert codes(found["launches nothing"]) == {"launch_changed"}
    assert not any(found[name].compiled for name in found if name != "widened")


def test_spills_and_shared_memory_are_limits(compiling: Workers, fixture_text: FixtureText) -> None:
    name = "row_norm.py"
    spilling = (
        "    t = tl.load(x + tl.arange(0, 64)[:, None] * 128 + tl.arange(0, 128)[None, :])\n"
        "    t = tl.where(tl.sum(t, 0)[None, :] > tl.sum(t, 1)[:, None], t, tl.exp(t))\n"
        "    tl.store(y + tl.arange(0, 64)[:, None] + tl.arange(0, 128)[None, :] * 64, t)\n"
    )
    _, found = run(
        compiling,
        fixture_text.path(name),
        fixture_text(name),
        ("spilling", fixture_text(name, ("    n = tl.sqrt", spilling + "    n = tl.sqrt"))),
        workload="even",
    )
    report = found["spilling"]
    assert report.compiled and not report.within_limits
    assert "spills" in codes(report) and report.kernels[0].spill_bytes > 0
    assert report.workload == "even"


@pytest.mark.parametrize("target", ["sm_80", "sm_100", "gfx942"])
def test_other_targets(compiling: Workers, fixture_text: FixtureText, target: str) -> None:
    original, _ = run(compiling, fixture_text.path("row_norm.py"), fixture_text("row_norm.py"), target=target)
    assert original.within_limits, original.findings
    assert original.kernels[0].registers > 0 and original.kernels[0].instructions["global_loads"] > 0


def test_an_autotuned_kernel_and_host_code_on_garbage(compiling: Workers, fixture_text: FixtureText) -> None:
    original, _ = run(compiling, fixture_text.path("tuned.py"), fixture_text("tuned.py"))
    assert original.within_limits
    assert original.kernels[0].constexprs == {"BD": 8, "EVEN": True}
    assert original.kernels[0].grid == (4,)
    assert original.after_launch is not None and "the launch did nothing" in original.after_launch


def test_without_hooks_nothing_is_compiled(compiling: Workers, fixture_text: FixtureText) -> None:
    original, _ = run(compiling, fixture_text.path("bare_kernel.py"), fixture_text("bare_kernel.py"))
    assert not original.compiled and codes(original) == {"no_workload"}
    with pytest.raises(ValueError, match="no target 'sm_1'"):
        run(compiling, "x.py", "", target="sm_1")
