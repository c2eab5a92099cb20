"""The file whose lock says that somebody measures on this machine's GPU, whoever they are."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def open_lock() -> int:
    """A descriptor of the file for the GPU that CUDA calls 0, not locked yet. Raises OSError.

    Another user's file can be read but not written, and that is enough for a lock.
    """
    index = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "none"
    path = Path(tempfile.gettempdir()) / f"skel-gpu-{index}.lock"
    careful = os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | careful, 0o644)
    except PermissionError:
        return os.open(path, os.O_RDONLY | careful)
