"""Markdown: one golden report, and nothing that evidence says marks up, links or reaches the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skel import __version__
from skel.report import as_markdown, view_of
from skel.report.markdown_text import code, fenced, line
from tests.report.making import checked, losing, piece, timed, unfinished

GOLDEN = Path(__file__).parent / "golden" / "report.md"


def test_the_golden_report() -> None:
    """To renew it: `python -m tests.report.renew`."""
    assert made_golden() == GOLDEN.read_text(encoding="utf-8")


def made_golden() -> str:
    """The report of every shape of evidence, with the version of skel left open."""
    report = view_of([piece(timed(), "a1" * 32), piece(checked(), "b2" * 32), piece(losing()), piece(unfinished())])
    return as_markdown(report).replace(f"Made by skel {__version__} ", "Made by skel VERSION ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n1_bf16, 4*8", r"n1_bf16, 4\*8"),
        ("<script>&lt;", "&lt;script&gt;&amp;lt;"),
        ("[a](javascript:b) | c\nd", r"\[a\](javascript:b) \| c d"),
        ("# no title", r"\# no title"),
        ("\x1b[31mred\u202e\x9b", r"\[31mred"),
    ],
)
def test_a_line_is_what_it_says(text: str, expected: str) -> None:
    assert line(text) == expected


def test_code_that_cannot_be_code_is_text() -> None:
    assert code("a_b") == "`a_b`"
    assert code("a`b|c") == r"a\`b\|c"


def test_nothing_ends_a_block_of_code() -> None:
    made = list(fenced(["+````", "+\x1b[2J"], "diff"))
    assert made == ["`````diff", "+````", "+[2J", "`````"]


def test_names_cannot_leave_their_cell() -> None:
    hostile, harmless = (
        as_markdown(view_of([piece(timed(kernel=name, file=name, skeleton=name))]))
        for name in ("`x` |\n\n# title\n<img src=x>", "harmless")
    )
    assert [row.count(" | ") for row in hostile.splitlines()] == [row.count(" | ") for row in harmless.splitlines()]
    assert not re.search(r"^# title|<img", hostile, re.M)
