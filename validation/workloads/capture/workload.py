"""A capture as the workload of a file: which of its calls are of that file, and the sidecar that makes them again."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from ...subject import Subject, module_name, sha256
from ..sidecar import subject_of as sidecar_subject
from ..target import SidecarError, in_package
from .archive import Capture, CaptureError

COPY = "capture.zip"
"""Name of the copy beside the generated sidecar."""

_SIDECAR = '''"""Hooks of a capture."""

from pathlib import Path

from skel.validation.workloads.capture.archive import Capture
from skel.validation.workloads.capture.replay import Replay

TARGET = {target!r}
LAUNCHERS = {launchers!r}
_replay = Replay(Capture(Path({capture!r})), {module!r}, {calls!r})
WORKLOADS = _replay.workloads
run = _replay.run
make_inputs = _replay.make_inputs
'''


def calls_of(capture: Capture, text: str, path: str) -> list[dict[str, Any]]:
    """The calls whose function stands in the file at `path`: by the hash of its text, else by the end of its path.

    Raises SidecarError where the capture holds none.
    """
    wanted = sha256(text)
    found: list[dict[str, Any]] = [call for call in capture.calls if call["sha256"] == wanted]
    if not found:
        ends = in_package(Path(path).resolve()).relative or Path(path).name
        found = [call for call in capture.calls if f"/{call['file']}".endswith(f"/{ends}")]
    if not found:
        files = ", ".join(sorted({call["file"] for call in capture.calls})) or "no file at all"
        raise SidecarError(f"{capture.path} holds no call of a kernel in {path}; it holds calls of {files}")
    return found


@cache
def subject_of(text: str, path: str, capture_file: str) -> Subject:
    """The file at `path` with a sidecar that makes the capture's calls. Made once a process and file.

    Raises SidecarError where the capture is none or holds no call of the file, Refuse as a sidecar's slice does.
    """
    try:
        capture = Capture(Path(capture_file))
    except CaptureError as error:
        raise SidecarError(str(error)) from error
    calls = calls_of(capture, text, path)
    where = in_package(Path(path).resolve())
    folder = Path(tempfile.mkdtemp(prefix="skel-capture-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    # Workers run as another user where we are root: they read a copy, as the capture may lie in a private folder.
    copied = folder / COPY
    shutil.copyfile(capture_file, copied)
    os.chmod(copied, 0o644)
    sidecar = folder / f"{Path(capture_file).stem}_hooks.py"
    sidecar.write_text(
        _SIDECAR.format(
            target=os.path.relpath(Path(path).resolve(), folder.resolve()),
            launchers=list(dict.fromkeys(call["name"] for call in calls)),
            capture=str(copied),
            module=where.module or module_name(path),
            calls=[call["call"] for call in calls],
        ),
        encoding="utf-8",
    )
    return sidecar_subject(text, path, str(sidecar))
