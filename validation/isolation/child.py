"""The worker itself: what a fork of the warm process does from its first instruction to its last. Never returns."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, NoReturn

from . import audit, compiled_here, landlock, limits
from .channel import sender
from .environment import private_folders
from .tasks import TASKS, load

_HOLD_USER_CODE = ("original", "candidate", "substitute")
"""Tasks that load a user's file: where there is no GPU, whose driver has files of its own, Linux itself keeps them from
writing elsewhere, also by libraries that an audit hook does not see."""


def run_child(request: dict[str, Any], descriptor: int, secret: str) -> NoReturn:
    """Runs `request["task"]` in its folder under its limits, reports over `descriptor`, and ends the process."""
    emit = sender(descriptor, secret)
    status = 1
    try:
        os.setsid()
        scratch = Path(request["scratch"])
        _redirect(scratch / "output.txt")
        os.environ.update(private_folders(scratch))
        tempfile.tempdir = None
        os.chdir(scratch)
        task = load(request["task"])
        limits.first_to_be_killed()
        limits.limit_resources(request["file_bytes"], request["processes"])
        if request.get("user") is not None:
            limits.drop_privileges(request["user"], request["privileges"])
        limits.die_with_parent()
        writable = (scratch, *map(Path, request.get("writable", ())))
        candidate = request["task"] == "candidate"
        audit.install(
            writable,
            TASKS[request["task"]].programs,
            lambda code, tried: emit("forbidden", code=code, tried=tried),
            scratch.parent if candidate else None,
            (Path(request["payload"]["exchange"]),) if candidate else (),
        )
        if request["task"] in _HOLD_USER_CODE and not str(request["payload"].get("device", "cuda")).startswith("cuda"):
            landlock.restrict_writing((*writable, Path("/dev/null"), Path("/dev/tty")))
        compiled_here.install(lambda tried: emit("forbidden", code=compiled_here.CODE, tried=tried))
        emit("done", result=task(request["payload"], emit))
        status = 0
    except MemoryError as error:
        emit("raised", error=f"MemoryError: {error}", memory=True)
    except BaseException as error:
        emit("raised", **describe(error, request.get("subject_file")))
    finally:
        os._exit(status)


def describe(error: BaseException, subject_file: str | None) -> dict[str, Any]:
    """An exception as plain values: its text, and the last line of the judged file on its way (1-based)."""
    text = f"{type(error).__name__}: {error}"[:2000]
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__ or current.__context__
    frames = [frame for link in chain for frame in traceback.extract_tb(link.__traceback__)]
    lines = [frame.lineno for frame in frames if subject_file and Path(frame.filename).name == Path(subject_file).name]
    if isinstance(error, SyntaxError) and error.lineno:
        lines.append(error.lineno)
    if isinstance(stated := getattr(error, "line", None), int):
        lines.append(stated)
    memory = "allocate memory" in text or "out of memory" in text.lower()
    return {
        "error": text,
        "line": lines[-1] if lines else None,
        "memory": memory,
        "traceback": "".join(traceback.format_exception(error))[-4000:],
    }


def _redirect(output: Path) -> None:
    """Standard input is empty; what is printed goes to a file that nothing is read out of."""
    sys.stdout.flush()
    sys.stderr.flush()
    for target, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY | os.O_CREAT | os.O_APPEND)):
        opened = os.open("/dev/null" if target == 0 else output, flags, 0o644)
        os.dup2(opened, target)
        os.close(opened)
    os.dup2(1, 2)
