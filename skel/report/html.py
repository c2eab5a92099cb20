"""The page: templates filled with what is shown. Everything is escaped, and the page may load and run nothing."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .compiled import MOST_REGISTERS, span
from .difference import difference
from .markdown_text import printable
from .surface import is_partial
from .view import Report

if TYPE_CHECKING:
    from jinja2 import Environment

GENERATOR = "skel report"
"""Stands in every report, so that a file is known as one before it is replaced."""


def as_html(report: Report) -> str:
    """One page with nothing outside it: no scripts, no fonts, no images. The same report gives the same bytes."""
    template = _environment().get_template("page.html.j2")
    return template.render(report=report, generator=GENERATOR)


@cache
def _environment() -> Environment:
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=PackageLoader("skel.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_printable,
    )
    environment.filters["span"] = span
    environment.globals |= {"difference": difference, "is_partial": is_partial, "most_registers": MOST_REGISTERS}
    return environment


def _printable(value: object) -> object:
    """Text without control characters and reversed writing; what is markup already was made by the templates."""
    return printable(value) if type(value) is str else value
