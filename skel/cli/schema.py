"""`skel schema`: the JSON Schema of a skeleton record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from skel.files import write_whole

from .options import Db, Json
from .output import emit, say

Out = Annotated[str | None, typer.Option("-o", "--out", metavar="FILE", help="Write it there; else print it.")]


def command(
    out: Out = None,
    as_json: Json = False,
    db: Db = None,
) -> int:
    """Write the JSON Schema of skeleton.yaml, for editors, agents and validators."""
    from skel.store.load import schema_json

    text = schema_json() + "\n"
    if out is None:
        emit(json.loads(text), True, lambda _: None)
        return 0
    write_whole(Path(out), text)
    say(f"wrote {out}")
    if as_json:
        emit({"out": out}, True, lambda _: None)
    return 0
