"""A capture as it lies on disk: one zip of a manifest, tensors and sources. Data only: nothing in it is ever run."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

FORMAT = 1
"""Version of the manifest's form."""
MANIFEST = "manifest.json"


class CaptureError(Exception):
    """The file is no capture, is damaged, or was written by another version."""


class Capture:
    """A capture, read. `launches` and `calls` are the records as they were written; see `recording`.

    Raises CaptureError where the file is none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as archive:
                self.manifest: dict[str, Any] = json.loads(archive.read(MANIFEST))
        except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise CaptureError(f"{path} is no capture: {error}") from error
        if not isinstance(self.manifest, dict):
            raise CaptureError(f"{path} is no capture: {MANIFEST} is not what a capture has")
        if self.manifest.get("format") != FORMAT:
            raise CaptureError(f"{path} has the form {self.manifest.get('format')}, this version reads {FORMAT}")
        if not all(isinstance(self.manifest.get(key), list) for key in ("launches", "calls")):
            raise CaptureError(f"{path} is damaged: it names no launches and calls")

    @property
    def launches(self) -> list[dict[str, Any]]:
        return list(self.manifest["launches"])

    @property
    def calls(self) -> list[dict[str, Any]]:
        return list(self.manifest["calls"])

    def tensors(self, call: int, which: str) -> dict[int, Any]:
        """The stored pieces of a call, flat bytes by number: `before` it, `after` it, or of its `results`.

        Raises CaptureError where the file holds anything but tensors.
        """
        import torch

        name = f"calls/{call}/{which}.pt"
        try:
            with zipfile.ZipFile(self.path) as archive:
                if name not in archive.namelist():
                    return {}
                data = archive.read(name)
            return dict(torch.load(io.BytesIO(data), map_location="cpu", weights_only=True))
        except Exception as error:
            raise CaptureError(f"{self.path}: {name} cannot be read: {error}") from error


def is_capture(path: str) -> bool:
    """True for a zip: nothing else that is a workload is one."""
    return zipfile.is_zipfile(path)
