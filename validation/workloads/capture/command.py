"""Runs the user's command with the recorder in every Python process it starts. Imports neither torch nor triton."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .build import collect, write

_SITE = """
import importlib.util, os, sys
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [place for place in sys.path if os.path.abspath(place or ".") != here]
recording = {recording!r}
spec = importlib.util.spec_from_file_location(
    "skel_recording", os.path.join(recording, "__init__.py"), submodule_search_locations=[recording])
sys.modules["skel_recording"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["skel_recording"])
from skel_recording.start import start
start({folder!r}, {choice!r}, {stub!r})
own = sys.modules.pop("sitecustomize")
try:
    import sitecustomize
except ImportError:
    pass
sys.modules.setdefault("sitecustomize", own)
"""
"""A `sitecustomize` in front of the one that is there, which it then imports."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of a command: its exit status (minus the signal's number where one ended it), and the manifest."""

    status: int
    manifest: dict[str, Any]


def capture(command: Sequence[str], out: Path, choice: str = "stored") -> Captured:
    """Runs `command`, records its launches and writes the capture `out` where there were any.

    `choice` is `stored`, or `statistics`: then floating-point values are described instead of kept. Output of the
    command goes to standard error. Raises OSError where the command cannot be started or `out` cannot be written.
    """
    here = Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory(prefix="skel-capture-") as scratch:
        site, folder = Path(scratch) / "site", Path(scratch) / "records"
        site.mkdir()
        folder.mkdir()
        stub = here.parents[1] / "compile"
        text = _SITE.format(recording=str(here / "recording"), folder=str(folder), choice=choice, stub=str(stub))
        (site / "sitecustomize.py").write_text(text, encoding="utf-8")
        before = os.environ.get("PYTHONPATH")
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (str(site), before)))}
        ended = subprocess.run(list(command), env=environment, stdout=2, check=False)
        manifest, files = collect(folder, command, choice)
        if manifest["launches"]:
            write(out, manifest, files)
    return Captured(ended.returncode, manifest)
