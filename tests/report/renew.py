"""Writes the golden report anew: `python -m tests.report.renew`, then read the difference."""

from __future__ import annotations

from tests.report.test_markdown import GOLDEN, made_golden

if __name__ == "__main__":
    GOLDEN.write_text(made_golden(), encoding="utf-8")
