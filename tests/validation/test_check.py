"""Whole checks. One check of many candidates a file, since the original then runs once."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.store.schema import NumericsClass
from skel.validation.check import check
from skel.validation.isolation import Workers
from skel.validation.report import CandidateCheck, CheckReport
from skel.validation.subject import CandidateSource

from .conftest import QUICK, FixtureText

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def run(workers: Workers, fixture: FixtureText, name: str, broken: dict[str, str], **options: object) -> CheckReport:
    candidates = [CandidateSource(label, text) for label, text in broken.items()]
    return check(fixture(name), candidates, fixture.path(name), workers=workers, protocol=QUICK, **options)  # type: ignore[arg-type]


def codes(checked: CandidateCheck, severity: str = "error") -> set[str]:
    return {finding.code for finding in checked.all_findings if finding.severity == severity}


def test_right_and_broken_candidates(interpreting: Workers, fixture_text: FixtureText) -> None:
    def broken(*changes: tuple[str, str]) -> str:
        return fixture_text("row_norm.py", *changes)

    store, end = "mask=o_d < D)\n\n", '    return {"y": y, "norm": norm}'
    expected = {
        "itself": (broken(), "equivalent", None),
        "widened": (broken(("BD = 8", "BD = triton.next_power_of_2(D)")), "equivalent", None),
        "other order": (broken(("b_x / n *", "b_x * (1 / n) *")), "equivalent", None),
        "dropped store mask": (broken((f", {store}", ")\n\n")), "wrong", "out_of_bounds_write"),
        "dropped load mask": (broken(("o_w, mask=o_w < D, other=0.0", "o_w")), "wrong", "values_differ"),
        "one tile short": (
            broken(("(triton.cdiv(D, BD), B)", "(triton.cdiv(D, BD) - 1, B)")),
            "wrong",
            "uninitialised_read",
        ),
        "skipped store": (
            broken(("    if i_t == 0:\n        tl.store(norm + i_b, n)\n", "")),
            "wrong",
            "uninitialised_read",
        ),
        "wrong guard": (broken(("if i_t == 0", "if i_t == 5")), "wrong", "uninitialised_read"),
        "stale value": (broken(("b_x / n", "b_x / (n + 1e-3)")), "wrong", "values_differ"),
        "zeros": (broken((end, '    return {"y": y * 0, "norm": norm}')), "wrong", "values_differ"),
        "half": (broken((end, '    return {"y": y.half(), "norm": norm}')), "wrong", "dtype_differs"),
        "fewer rows": (broken((end, '    return {"y": y[:1], "norm": norm}')), "wrong", "shape_differs"),
        "an output less": (broken((end, '    return {"y": y}')), "wrong", "outputs_differ"),
        "infinite": (broken(("b_x / n", "b_x / (n * 0)")), "wrong", "nonfinite_differs"),
        "changed input": (broken((end, "    x.mul_(2)\n" + end)), "wrong", "input_changed"),
        "work on the host": (
            broken(("def run(inputs):", "def run(inputs):\n    return reference(inputs)\n")),
            "failed",
            "launch_changed",
        ),
        "only the first case": (
            broken(
                (
                    "    y, norm = ",
                    "    global calls\n    calls = globals().get('calls', 0) + 1\n"
                    "    if calls > 2: x = x * 1.01\n    y, norm = ",
                )
            ),
            "wrong",
            "values_differ",
        ),
        "changes itself": (
            broken(("    BD = 8", "    open(__file__, 'a').write('#')\n    BD = 8")),
            "failed",
            "wrong_code_ran",
        ),
        "swapped source": (broken() + "open(__file__, 'a').write('#')\n", "failed", "wrong_code_ran"),
        "crash": (
            broken(("    BD = 8", "    import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")),
            "failed",
            "worker_crashed",
        ),
        "raises": (broken(("    BD = 8", "    raise ValueError('no')")), "failed", "worker_raised"),
    }
    report = run(interpreting, fixture_text, "row_norm.py", {name: text for name, (text, _, _) in expected.items()})
    assert report.has_reference and report.sentinels_tried == report.sentinels_rejected > 8
    assert {f.code for f in report.findings} == {"interpreter_only"}
    for checked in report.candidates:
        _, verdict, code = expected[checked.name]
        assert checked.verdict.value == verdict, (checked.name, checked.all_findings)
        assert code is None or code in codes(checked), (checked.name, codes(checked))
        assert (verdict == "equivalent") == (not codes(checked)), checked.name
    by_name = {checked.name: checked for checked in report.candidates}
    ragged = next(w for w in by_name["dropped store mask"].workloads if w.label == "ragged")
    assert ragged.verdict.value == "wrong" and ragged.findings[0].place.workload == "ragged"
    assert [w.kind for w in by_name["itself"].workloads] == ["declared", "declared", "shape"]
    assert by_name["itself"].workloads[0].errors["y"]["candidate_rms_error"] < 1e-6
    raised = next(f for f in by_name["raises"].findings if f.code == "worker_raised")
    assert raised.place.line == 24
    ran = report.numerics()["ran"]
    assert ran["original"]["source_sha256"] == report.original_sha256
    assert ran["widened"]["source_sha256"] == by_name["widened"].source_sha256
    (kernel,) = ran["widened"]["kernels"]
    assert (kernel["kernel"], kernel["file"]) == ("row_norm_kernel", "row_norm.py") and kernel["count"] > 8
    assert kernel["binaries"] == [], "interpreted kernels have none; tests on a GPU ask for theirs"
    assert report.protocol["correctness"]["seeds"] == 2 and report.numerics()["sentinels"]["tried"] > 8


def test_the_class_decides(interpreting: Workers, fixture_text: FixtureText) -> None:
    near = fixture_text("row_norm.py", ("b_x / n *", "b_x * (1 / n) *"))
    report = run(
        interpreting,
        fixture_text,
        "row_norm.py",
        {"near": near, "itself": fixture_text("row_norm.py")},
        numerics_class=NumericsClass.BITWISE,
    )
    assert [checked.verdict.value for checked in report.candidates] == ["wrong", "equivalent"]


def test_reads_outside_are_seen_where_they_reach_the_result(interpreting: Workers, fixture_text: FixtureText) -> None:
    """The load runs past the row's end, and a little of what it finds there is added to the output."""
    wide = fixture_text(
        "row_norm.py",
        (
            "tl.load(w + o_d, mask=o_d < D, other=0.0)",
            "(tl.load(w + o_d, mask=o_d < D, other=0.0) + 1e-9 * tl.load(x + 4096 + o_d))",
        ),
    )
    report = run(interpreting, fixture_text, "row_norm.py", {"wide": wide})
    assert codes(report.candidates[0]) & {"reads_outside", "out_of_bounds_read"}


def test_state_changed_in_place(interpreting: Workers, fixture_text: FixtureText) -> None:
    def broken(*changes: tuple[str, str]) -> str:
        return fixture_text("in_place.py", *changes)

    report = run(
        interpreting,
        fixture_text,
        "in_place.py",
        {
            "itself": broken(),
            "returns a copy": broken(
                ("    update_kernel[", "    inputs['state'] = inputs['state'].clone()\n    update_kernel[")
            ),
            "other change": broken(("* 0.5 +", "* 0.25 +")),
            "between the rows": broken(("    return inputs", "    inputs['a'][0, 0] += 1\n    return inputs")),
        },
    )
    verdicts = {checked.name: checked.verdict.value for checked in report.candidates}
    assert verdicts == {
        "itself": "equivalent",
        "returns a copy": "wrong",
        "other change": "wrong",
        "between the rows": "wrong",
    }
    by_name = {checked.name: codes(checked) for checked in report.candidates}
    assert by_name["returns a copy"] == {"input_change_differs"}
    assert {"input_change_differs", "values_differ"} <= by_name["other change"]
    assert by_name["between the rows"] == {"input_changed"}


def test_a_wrong_reference_is_said_and_the_original_judges(interpreting: Workers, fixture_text: FixtureText) -> None:
    name = "row_norm.py"
    off = (".sqrt()\n    return", ".sqrt() * 1.5\n    return")
    text = fixture_text(name, off)
    report = check(
        text,
        [text, text.replace("b_x / n", "b_x / (n + 1)")],
        fixture_text.path(name),
        workers=interpreting,
        protocol=QUICK,
    )
    assert "reference_disagrees" in {f.code for f in report.findings}
    assert [checked.verdict.value for checked in report.candidates] == ["equivalent", "wrong"]


def test_where_the_reference_outranks_the_original(interpreting: Workers, fixture_text: FixtureText) -> None:
    name = "row_norm.py"
    loose = fixture_text(name, ("b_x / n *", "b_x / n * 1.01 *"))
    report = check(loose, [fixture_text(name)], fixture_text.path(name), workers=interpreting, protocol=QUICK)
    assert report.candidates[0].verdict.value == "wrong"
    report = check(
        loose,
        [fixture_text(name)],
        fixture_text.path(name),
        workers=interpreting,
        protocol=QUICK,
        reference_outranks=True,
    )
    assert report.candidates[0].verdict.value == "equivalent"


def test_what_cannot_be_told_is_not_vouched_for(interpreting: Workers, fixture_text: FixtureText) -> None:
    report = run(interpreting, fixture_text, "vacuous.py", {"itself": fixture_text("vacuous.py")})
    assert report.candidates[0].verdict.value == "inconclusive"
    assert "vacuous_tolerance" in {f.code for f in report.findings}
    assert report.sentinels_rejected < report.sentinels_tried


def test_sidecars(interpreting: Workers, fixture_text: FixtureText) -> None:
    name = "bare_kernel.py"
    text = fixture_text(name)
    report = run(
        interpreting,
        fixture_text,
        name,
        {"itself": text, "minus": text.replace("(x + o) +", "(x + o) -")},
        workload_file=fixture_text.path("bare_kernel_workload.py"),
    )
    assert [checked.verdict.value for checked in report.candidates] == ["equivalent", "wrong"]
    without = run(interpreting, fixture_text, name, {"itself": text})
    assert without.candidates[0].verdict.value == "inconclusive"
    assert {f.code for f in without.findings} == {"no_workload"}


def test_an_original_that_fails_decides_nothing(interpreting: Workers, fixture_text: FixtureText) -> None:
    text = fixture_text("row_norm.py", ("    BD = 8", "    raise RuntimeError('not here')"))
    report = check(
        text, [fixture_text("row_norm.py")], fixture_text.path("row_norm.py"), workers=interpreting, protocol=QUICK
    )
    assert report.candidates[0].verdict.value == "inconclusive"
    assert "worker_raised" in {f.code for f in report.findings}


def test_autotuned_kernels_and_shapes_the_original_rejects(interpreting: Workers, fixture_text: FixtureText) -> None:
    text = fixture_text("tuned.py", ("    y = torch", "    assert x.numel() % 8 == 0\n    y = torch"))
    report = check(text, [text], fixture_text.path("tuned.py"), workers=interpreting, protocol=QUICK)
    assert report.candidates[0].verdict.value == "equivalent"
    assert report.shapes_skipped == 1


def test_full_counts_what_the_original_can_take(interpreting: Workers, fixture_text: FixtureText) -> None:
    """This kernel takes rows to be contiguous: strided inputs do not count, since the original fails on them too."""
    report = run(interpreting, fixture_text, "row_norm.py", {"itself": fixture_text("row_norm.py")}, full=True)
    (checked,) = report.candidates
    assert checked.verdict.value == "equivalent"
    assert len(checked.workloads[0].seeds) == 5 and checked.workloads[0].cases_passed >= 20
    (skipped,) = [finding for finding in report.findings if finding.code == "case_not_judged"]
    assert any("strided" in label for label in skipped.data["cases"])
    assert sum(w.kind == "shape" for w in checked.workloads) >= 4
    takes = run(interpreting, fixture_text, "in_place.py", {"itself": fixture_text("in_place.py")}, full=True)
    assert takes.candidates[0].verdict.value == "equivalent"
    skipped_there = [label for f in takes.findings if f.code == "case_not_judged" for label in f.data["cases"]]
    assert any("strided" in label for label in skipped_there), "its state has no stride argument"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_equivalent_to_itself(interpreting: Workers, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    report = check(text, [text], str(path), workers=interpreting, protocol=QUICK)
    assert report.candidates[0].verdict.value == "equivalent", report
    assert report.candidates[0].workloads[0].cases_not_counted == 0
    assert report.sentinels_tried == report.sentinels_rejected


def test_outputs_without_a_number_decide_nothing(interpreting: Workers, fixture_text: FixtureText) -> None:
    end = '    return {"y": y, "norm": norm}'
    silent = fixture_text("row_norm.py", (end, '    nan = float("nan")\n    return {"y": y * nan, "norm": norm * nan}'))
    report = check(
        silent,
        [CandidateSource("itself", silent)],
        fixture_text.path("row_norm.py"),
        workers=interpreting,
        protocol=QUICK,
    )
    assert report.candidates[0].verdict.value == "inconclusive"
    assert "vacuous_tolerance" in {f.code for f in report.findings}
