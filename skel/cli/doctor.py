"""`skel doctor`: what is here, what is missing, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skel.store.schema.words import ExitStatus

from .options import Db, Json
from .output import emit, working

if TYPE_CHECKING:
    from rich.console import Console

    from skel.doctor import Check


def command(as_json: Json = False, db: Db = None) -> int:
    """Check Python, torch, triton, the interpreter, the compiler, the GPU, the database and the search weights.

    Exit status 4 where something that skel cannot do without is missing.
    """
    from skel.doctor import examine

    with working("running a kernel in the interpreter and through the compiler"):
        checks = examine(db)
    lacking = [check for check in checks if check.status == "missing" and check.required]
    emit({"ok": not lacking, "checks": checks}, as_json, lambda console: _render(console, checks))
    return ExitStatus.MISSING_HERE if lacking else ExitStatus.OK


def _render(console: Console, checks: tuple[Check, ...]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        colour = "green" if check.status == "ok" else "red" if check.required else "yellow"
        optional = "" if check.required or check.status == "ok" else " (optional)"
        console.print(f"[{colour}]{check.status:7}[/] {check.name:{width}}  ", end="")
        console.print(check.found + optional, markup=False)
        if check.what_to_do:
            console.print(f"{'':7} {'':{width}}  what to do: {check.what_to_do}", markup=False)
