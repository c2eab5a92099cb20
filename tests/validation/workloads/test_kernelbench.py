"""Files in KernelBench's form are judged without hooks of ours."""

from __future__ import annotations

from skel.validation.check import check
from skel.validation.isolation import Workers

from ..conftest import QUICK, FixtureText

NAME = "kernelbench.py"


def test_a_file_with_both_models(interpreting: Workers, fixture_text: FixtureText) -> None:
    """The weights are drawn, so a model that draws others, or leaves them out, is wrong."""
    text = fixture_text(NAME)
    unscaled = fixture_text(NAME, ("tl.maximum(b_x, 0.0) * tl.load(scale + o, mask=o < D)", "tl.maximum(b_x, 0.0)"))
    report = check(text, [text, unscaled], fixture_text.path(NAME), workers=interpreting, protocol=QUICK)
    assert report.has_reference and {finding.code for finding in report.findings} == {"interpreter_only"}
    assert [one.verdict.value for one in report.candidates] == ["equivalent", "wrong"]


def test_a_model_against_its_rewriting(interpreting: Workers, fixture_text: FixtureText) -> None:
    """As KernelBench does it: one file holds `Model`, the other `ModelNew`."""
    text = fixture_text(NAME)
    start, end = text.index("class ModelNew"), text.index("def get_inputs")
    report = check(
        text[:start] + text[end:],
        [text, fixture_text(NAME, ("tl.maximum(b_x, 0.0)", "tl.maximum(b_x, 0.1)"))],
        fixture_text.path(NAME),
        workers=interpreting,
        protocol=QUICK,
    )
    assert [one.verdict.value for one in report.candidates] == ["equivalent", "wrong"]
