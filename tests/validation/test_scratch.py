"""A counter that follows the grid: compared unless the hooks call it scratch and the original changes it too."""

from __future__ import annotations

import pytest

from skel.validation.check import check
from skel.validation.isolation import Workers
from skel.validation.workloads.hooks import is_scratch

from .conftest import QUICK, FixtureText

NAME = "counted.py"
WIDER = (('["x"], 8', '["x"], 32'),)
WRONG = ("* 2.0", "* 2.5")
CLEARS = ("tl.atomic_add(counter, 1)", "tl.atomic_add(counter, 1)\n    tl.store(x + o, 0.0, mask=o < D)")


@pytest.mark.parametrize(
    ("scratch", "changes", "verdict", "code"),
    [
        ("", WIDER, "wrong", "input_change_differs"),
        ('SCRATCH = ["counter"]', WIDER, "equivalent", None),
        ('SCRATCH = ["counter", "y"]', (*WIDER, WRONG), "wrong", "values_differ"),
        ('SCRATCH = ["x"]', (CLEARS,), "wrong", "input_changed"),
    ],
    ids=["compared", "named", "results are compared", "what the original leaves alone is compared"],
)  # fmt: skip
def test_scratch_is_what_the_hooks_call_so(
    interpreting: Workers,
    fixture_text: FixtureText,
    scratch: str,
    changes: tuple[tuple[str, str], ...],
    verdict: str,
    code: str | None,
) -> None:
    end = ('    return {"y": y}\n', f'    return {{"y": y}}\n\n\n{scratch}\n')
    report = check(
        fixture_text(NAME, end), [fixture_text(NAME, end, *changes)], fixture_text.path(NAME),
        workers=interpreting, protocol=QUICK,
    )  # fmt: skip
    (checked,) = report.candidates
    assert checked.verdict.value == verdict, checked.all_findings
    errors = [finding for finding in checked.all_findings if finding.severity == "error"]
    assert {finding.code for finding in errors} == ({code} if code else set())
    if code == "input_change_differs":
        assert "SCRATCH" in str(errors[0].hint), "the way out is said"
    assert ("scratch_not_compared" in {finding.code for finding in report.findings}) == bool(scratch)


def test_the_candidates_own_hooks_call_nothing_scratch(interpreting: Workers, fixture_text: FixtureText) -> None:
    end = ('    return {"y": y}\n', '    return {"y": y}\n\n\nSCRATCH = ["counter"]\n')
    texts = [fixture_text(NAME, end, *WIDER)]
    report = check(fixture_text(NAME), texts, fixture_text.path(NAME), workers=interpreting, protocol=QUICK)
    assert report.candidates[0].verdict.value == "wrong"


def test_a_name_means_all_that_lies_in_it() -> None:
    assert is_scratch("locks.0", ["locks"]) and not is_scratch("locksmith", ["locks"]) and not is_scratch("x", [])
