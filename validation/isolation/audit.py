"""Stops a candidate's Python from writing outside its folder, opening sockets, or starting processes.

An audit hook cannot be removed once it is set. It binds Python code only: the unprivileged user and the empty network
namespace, where they can be had, bind the rest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES_PATHS = {
    "os.remove": 1,
    "os.rename": 2,
    "os.mkdir": 1,
    "os.rmdir": 1,
    "os.link": 2,
    "os.symlink": 2,
    "os.chmod": 1,
    "os.chown": 1,
    "os.truncate": 1,
    "os.utime": 1,
    "os.setxattr": 1,
    "os.mkfifo": 1,
}
_NETWORK = {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"}
_PROGRAMS = {
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "pty.spawn",
    "os.fork",
    "os.forkpty",
}
_REPORTED = 20
"""Attempts that are reported; a loop that tries again and again would only fill the pipe."""
_HARMLESS = ("/dev/null", "/dev/tty", "/dev/nvidia", "/dev/kfd", "/dev/dri")


def install(
    writable: tuple[Path, ...],
    programs: tuple[str, ...],
    report: Callable[[str, str], None],
    private: Path | None = None,
    readable: tuple[Path, ...] = (),
) -> None:
    """From now on: writing outside `writable`, sockets, and programs not named in `programs` raise PermissionError; so
    does reading what lies in the folder `private` but in none of `writable` and `readable`: others' results.

    `report` is told the code of the finding and what was tried, so that catching the error hides nothing.
    """
    roots = tuple(os.path.realpath(path) for path in writable)
    real_path, joined = os.path.realpath, os.sep
    reported: list[tuple[str, str]] = []

    def forbidden_path(path: Any) -> bool:
        if isinstance(path, int):
            return False
        text = os.fsdecode(path)
        real = real_path(text)
        return not (
            real in roots or real.startswith(tuple(root + joined for root in roots)) or real.startswith(_HARMLESS)
        )

    kept = (os.path.realpath(private) + joined,) if private is not None else ()
    allowed = tuple(os.path.realpath(path) + joined for path in (*writable, *readable))

    def foreign(path: Any) -> bool:
        if isinstance(path, int) or path is None or not kept:
            return False
        real = real_path(os.fsdecode(path)) + joined
        return real.startswith(kept) and not real.startswith(allowed)

    def tried(event: str, arguments: tuple[Any, ...]) -> tuple[str, str] | None:
        if event == "open":
            path, mode, flags = arguments
            writes = bool(flags & _WRITING) if isinstance(flags, int) else bool(set(mode or "") & set("wax+"))
            if writes and path is not None and forbidden_path(path):
                return "wrote_outside", os.fsdecode(path)
            if mode is None and path is not None and forbidden_path(path) and os.path.isdir(path):
                return "wrote_outside", f"{os.fsdecode(path)}, opened as a folder"  # names in it would not be seen
            return ("read_foreign", os.fsdecode(path)) if foreign(path) else None
        if event == "sqlite3.connect" and arguments[0] not in (":memory:", "") and forbidden_path(arguments[0]):
            return "wrote_outside", os.fsdecode(arguments[0])
        if event in _CHANGES_PATHS:
            paths = (path for path in arguments[: _CHANGES_PATHS[event]] if path is not None and forbidden_path(path))
            return next((("wrote_outside", os.fsdecode(path)) for path in paths), None)
        if event in _NETWORK:
            return "used_network", event
        if event in _PROGRAMS:
            named = arguments and isinstance(arguments[0], (str, bytes, os.PathLike))
            program = os.fsdecode(arguments[0]) if named else event
            return None if os.path.basename(program) in programs else ("started_process", program)
        return None

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if (found := tried(event, arguments)) is not None:
            if len(reported) < _REPORTED:
                reported.append(found)
                report(*found)
            raise PermissionError(f"a worker may not do this: {found[0]} {found[1]}")

    sys.addaudithook(hook)
