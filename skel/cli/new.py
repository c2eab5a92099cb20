"""`skel new`: start a skeleton, a primitive or a detector."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from skel.faults import WrongUse
from skel.files import write_whole

from .options import Db, Json
from .output import emit


class Kind(StrEnum):
    """What can be started."""

    SKELETON = "skeleton"
    PRIMITIVE = "primitive"
    DETECTOR = "detector"


What = Annotated[Kind, typer.Argument(metavar="skeleton|primitive|detector", help="What to start.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Its name, in snake_case.")]


def command(kind: What, name: Name, as_json: Json = False, db: Db = None) -> int:
    """Write the files of a new skeleton, primitive or detector: itself, its test, and its part of the reference.

    Run it in a clone of the repository. Nothing that is there already is overwritten.
    """
    from skel.docs import REFERENCE, reference
    from skel.scaffold import NAME, NEXT, draft, find_clone

    if not NAME.fullmatch(name):
        raise WrongUse(f"{name!r} is no name", hint="use snake_case: lower-case letters, digits and underscores")
    clone = find_clone(Path.cwd())
    if clone is None:
        raise WrongUse("this is no clone of the repository", where=str(Path.cwd()), hint="run it inside a clone")
    try:
        files = draft(kind.value, name, clone)
    except FileExistsError as error:
        raise WrongUse(f"{error} is there already", hint="choose another name") from error
    for file in files:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file.path, file.text)
    page = clone / REFERENCE
    page.parent.mkdir(exist_ok=True)
    write_whole(page, reference(clone))
    written = [str(path.relative_to(clone)) for path in (*(file.path for file in files), page)]
    following = NEXT[kind.value].format(file=written[0])
    document = {"kind": kind.value, "name": name, "files": written, "next": following}
    lines = [*(f"wrote {path}" for path in written), f"next: {following}"]
    emit(document, as_json, lambda console: console.print("\n".join(lines), markup=False))
    return 0
