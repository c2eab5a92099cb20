"""Which of the ways a workload file is: a capture, else a sidecar."""

from __future__ import annotations

from ..subject import Subject
from .capture.archive import is_capture


def subject_of(text: str, path: str, workload_file: str | None = None) -> Subject:
    """The file at `path` with contents `text`, with the capture or sidecar `workload_file` where one is given.

    Raises SidecarError where it does not fit, Refuse where no slice of the file can run, OSError where it cannot be
    read.
    """
    if workload_file is not None and is_capture(workload_file):
        from .capture import workload

        return workload.subject_of(text, path, workload_file)
    from . import sidecar

    return sidecar.subject_of(text, path, workload_file)
