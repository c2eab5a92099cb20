"""A wrong kernel whose results `run` does not hand back, or not all of them, is caught all the same."""

from __future__ import annotations

import pytest

from skel.validation.check import check
from skel.validation.isolation import Workers
from skel.validation.report import CandidateCheck, CheckReport

from .conftest import QUICK, FixtureText

NAME = "dropped.py"
HANDED_BACK = '    return {"y": y}'
Y, REST = "tl.store(y + o_d, b_x * b_g", "tl.store(rest + o_d, b_x - b_g"
WRONG_Y, WRONG_REST = (Y, "tl.store(y + o_d, b_x * b_g * 1.5"), (REST, "tl.store(rest + o_d, b_x + b_g")
EXACT_Y = "x * (x * 0.5).exp()"


def judged(workers: Workers, fixture: FixtureText, returned: str, *changes: tuple[str, str]) -> CheckReport:
    """The fixture with `returned` for what `run` hands back: itself, and with `changes`."""
    text = fixture(NAME, (HANDED_BACK, returned))
    broken = text
    for old, new in changes:
        assert old in broken
        broken = broken.replace(old, new)
    return check(text, [text, broken], fixture.path(NAME), workers=workers, protocol=QUICK)


def errors(checked: CandidateCheck) -> set[str]:
    return {finding.code for finding in checked.all_findings if finding.severity == "error"}


@pytest.mark.parametrize(
    ("returned", "change"),
    [
        ('    return {"y": y}', WRONG_REST),
        ('    return {"y": y[:1].clone()}', (Y, "tl.store(y + o_d, b_x * b_g * tl.where(o_d < 1, 1.0, 2.0)")),
        ('    return {"y": y[:4]}', (Y, "tl.store(y + o_d, b_x * b_g * tl.where(o_d < 4, 1.0, 2.0)")),
        ('    return {"y": y[::2].clone()}', (Y, "tl.store(y + o_d, b_x * b_g * (1 + o_d % 2)")),
        ('    sign = y.sign()\n    y.zero_()\n    return {"sign": sign}', WRONG_Y),
        ('    return {"y": y}', (f"    {REST}, mask=o_d < D)\n", "")),
    ],
    ids=[
        "a result dropped",
        "a copy of a part",
        "a view of a part",
        "every other element",
        "overwritten",
        "store skipped",
    ],
)
def test_what_is_not_handed_back_is_compared(
    interpreting: Workers, fixture_text: FixtureText, returned: str, change: tuple[str, str]
) -> None:
    report = judged(interpreting, fixture_text, returned, change)
    right, broken = report.candidates
    assert right.verdict.value == "equivalent", right.all_findings
    assert broken.verdict.value == "wrong" and errors(broken) == {"launch_output_differs"}


@pytest.mark.parametrize(
    "returned",
    [
        '    return {"y": x}',
        '    return {"y": torch.ones_like(x)}',
        f'    return {{"y": {EXACT_Y}}}',
        f'    y.copy_({EXACT_Y})\n    return {{"y": y}}',
        f'    return {{"y": y * 0 + {EXACT_Y}}}',
        "    return None",
        "    return 1.0",
    ],
    ids=["its input", "a constant", "computed again", "over the result", "beside the result", "nothing", "a number"],
)
def test_where_nothing_of_the_kernels_is_seen_nothing_is_vouched_for(
    interpreting: Workers, fixture_text: FixtureText, returned: str
) -> None:
    report = judged(interpreting, fixture_text, returned, WRONG_Y)
    right, broken = report.candidates
    assert right.verdict.value == "inconclusive"
    assert {"kernel_unseen"} <= {finding.code for finding in report.findings}
    assert {"kernel_unseen"} <= {finding.code for finding in right.all_findings}
    assert broken.verdict.value == "wrong" and errors(broken) == {"launch_output_differs"}


def test_no_launch_at_all(interpreting: Workers, fixture_text: FixtureText) -> None:
    text = fixture_text(NAME, ("    y, _rest = launch(x)\n", "    y = x + 1\n"))
    report = check(text, [text], fixture_text.path(NAME), workers=interpreting, protocol=QUICK)
    assert report.candidates[0].verdict.value == "inconclusive"
    assert "kernel_unseen" in {finding.code for finding in report.findings}


def test_another_grid_and_a_scratch_argument_are_still_compared(
    interpreting: Workers, fixture_text: FixtureText
) -> None:
    """`rest` is nowhere to be seen from outside; the rewritten launch has wider tiles and one argument more."""
    wider = [
        ("def launch(x, BD=8)", "def launch(x, BD=32)"),
        ("y, rest, D, BD: tl", "y, rest, scratch, D, BD: tl"),
        ("(x, g, y, rest, D, BD=BD)", "(x, g, y, rest, torch.empty_like(x), D, BD=BD)"),
        ("    b_g = tl.exp", "    tl.store(scratch + o_d, b_x, mask=o_d < D)\n    b_g = tl.exp"),
    ]
    report = judged(interpreting, fixture_text, HANDED_BACK, *wider)
    assert [one.verdict.value for one in report.candidates] == ["equivalent", "equivalent"]
    report = judged(interpreting, fixture_text, HANDED_BACK, *wider, WRONG_REST)
    assert errors(report.candidates[1]) == {"launch_output_differs"}


def test_an_intermediate_that_the_next_kernel_makes_good_is_right(
    interpreting: Workers, fixture_text: FixtureText
) -> None:
    """The gate in base 2, as `exp2` needs it: other values in memory, the same outputs."""
    based = [("b_x * 0.5", "b_x * 0.7213475204444817"), ("tl.exp(tl.load(g", "tl.exp2(tl.load(g")]
    report = judged(interpreting, fixture_text, '    return {"y": y, "rest": _rest}', *based)
    assert [one.verdict.value for one in report.candidates] == ["equivalent", "equivalent"]


def test_a_kernel_of_another_name_without_the_dropped_result(interpreting: Workers, fixture_text: FixtureText) -> None:
    """`rest` is gone: nobody can say whether it may be."""
    gone = [
        (f"    {REST}, mask=o_d < D)\n", ""),
        ("y, rest, D, BD: tl", "y, D, BD: tl"),
        ("(x, g, y, rest, D, BD=BD)", "(x, g, y, D, BD=BD)"),
    ]
    renamed = ("scale_kernel", "scale_only_kernel")
    for changes in (gone, [*gone, renamed]):
        broken = judged(interpreting, fixture_text, HANDED_BACK, *changes).candidates[1]
        assert broken.verdict.value == "inconclusive"
        assert "launch_output_unmatched" in {finding.code for finding in broken.all_findings}
    whole = judged(interpreting, fixture_text, HANDED_BACK, renamed).candidates[1]
    assert whole.verdict.value == "equivalent"


def test_a_candidate_that_launches_and_computes_otherwise(interpreting: Workers, fixture_text: FixtureText) -> None:
    aside = (HANDED_BACK, f'    return {{"y": {EXACT_Y}}}')
    report = judged(interpreting, fixture_text, HANDED_BACK, aside)
    assert report.candidates[1].verdict.value == "failed"
    assert errors(report.candidates[1]) == {"output_not_from_kernel"}
