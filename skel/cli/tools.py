"""`skel tools`: the tools for agents, in the form that their framework takes."""

from __future__ import annotations

from typing import Annotated

import typer

from skel.faults import WrongUse

from .options import Db, Json
from .output import emit

Format = Annotated[
    str, typer.Option("--format", metavar="FORM", help="`openai`, `anthropic`, or `json` (all, prompts too).")
]


def command(form: Format = "json", as_json: Json = False, db: Db = None) -> int:
    """Print the tools with their schemas as JSON; `skel call TOOL JSON` calls one."""
    from skel.agent.rendering import FORMATS

    if form not in FORMATS:
        raise WrongUse(f"there is no format {form!r}", hint=f"there are {', '.join(FORMATS)}")
    emit(FORMATS[form](), True, lambda _: None)
    return 0
