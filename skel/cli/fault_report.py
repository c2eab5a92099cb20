"""How a command that could not do its work says so: what, where, what to do; as JSON too where that was asked for."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from skel import __version__
from skel.faults import Fault
from skel.store.schema.words import ExitStatus

from .output import say, write_json


def report_fault(fault: Fault, json_stream: TextIO | None) -> int:
    """Report a foreseen fault and return its exit status."""
    return _report(fault.status, fault.what, fault.where, fault.hint, json_stream)


def report_usage(error: Any, json_stream: TextIO | None) -> int:
    """Report typer's usage error and return status 2."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "skel"
    return _report(ExitStatus.WRONG_USE, error.format_message(), path, f"see `{path} --help`", json_stream)


def report_crash(error: BaseException, words: Sequence[str], json_stream: TextIO | None) -> int:
    """Save the traceback of a fault of ours to a file, report it in one line, and return status 3."""
    saved = _save(error, words)
    what = f"a fault of skel itself: {type(error).__name__}: {_first_line(error)}"
    return _report(ExitStatus.OUR_FAULT, what, saved, "please report it with that file", json_stream)


def _report(status: int, what: str, where: str | None, hint: str | None, json_stream: TextIO | None) -> int:
    say(f"skel: {what}" + (f"\n  where: {where}" if where else "") + (f"\n  what to do: {hint}" if hint else ""))
    if json_stream is not None:
        write_json({"error": {"status": status, "what": what, "where": where, "hint": hint}}, json_stream)
    return status


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no message"])[0][:300]


def _save(error: BaseException, words: Sequence[str]) -> str | None:
    """The path of the saved report; None where no folder can be written."""
    head = f"skel {__version__}, Python {platform.python_version()}, {platform.platform()}\narguments: {list(words)}"
    text = head + "\n\n" + "".join(traceback.format_exception(error))
    for folder in _report_folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"fault-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
            path.write_text(text, encoding="utf-8")
            return str(path)
        except OSError:
            continue
    sys.stderr.write(text)
    return None


def _report_folders() -> list[Path]:
    folders = [Path(tempfile.gettempdir())]
    try:
        import platformdirs

        folders.insert(0, Path(platformdirs.user_state_dir("skel")) / "reports")
    except ImportError:
        pass
    return folders
