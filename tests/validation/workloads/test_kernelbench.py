"""Files in KernelBench's form are judged without hooks of ours."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize(
    ("changed", "verdict", "code"),
    [
        ("        y = torch.relu(x) * self.scale\n        return y\n", "inconclusive", "kernel_unseen"),
        ("        KERNEL\n        return torch.relu(x) * self.scale\n", "failed", "launches_for_show"),
        ("        KERNEL\n        y[0] = torch.relu(x[0]) * self.scale\n        return y\n", "equivalent",
         "output_partly_not_from_kernel"),
        ("        KERNEL\n        return y + 0.0\n", "equivalent", None),
    ],
    ids=["no kernel", "for show", "a part", "all"],
)  # fmt: skip
def test_what_a_rewriting_computes_in_kernels(
    interpreting: Workers, fixture_text: FixtureText, changed: str, verdict: str, code: str | None
) -> None:
    """Of a plain model nothing comes from kernels, so its rewriting is asked what does."""
    text = fixture_text(NAME)
    if "y[0]" in changed:  # the kernel leaves that row wrong
        text = text.replace("tl.maximum(b_x, 0.0)", "tl.maximum(b_x, 9.0 * (tl.program_id(0) == 0))")
    start, end = text.index("class ModelNew"), text.index("def get_inputs")
    begin, finish = text.index("        y = torch.empty_like(x)"), text.index("        return y\n")
    launch = text[begin:finish].strip()
    rewriting = text[:begin] + changed.replace("KERNEL", launch) + text[finish + len("        return y\n") :]
    report = check(
        text[:start] + text[end:], [rewriting], fixture_text.path(NAME), workers=interpreting, protocol=QUICK
    )
    (checked,) = report.candidates
    assert checked.verdict.value == verdict, checked.all_findings
    assert {finding.code for finding in checked.all_findings} == ({code} if code else set())
