"""The environment of this machine, without importing torch: what evidence is held against."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess

from skel import __version__
from skel.gpu import gpu_names
from skel.store.schema import Environment


def environment_here() -> Environment:
    """Versions of what is installed, and device, driver and architecture where there is a GPU."""
    facts = {"device": "cpu (interpreter)", **(_gpu() if gpu_names() else {})}
    return Environment(
        torch=_version("torch"), triton=_version("triton"), python=platform.python_version(), skel=__version__, **facts
    )


def _gpu() -> dict[str, str]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader", "-i", "0"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout
        name, driver, capability = (field.strip() for field in said.strip().split(","))
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return {"device": name, "driver": driver, "architecture": f"sm_{capability.replace('.', '')}"}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
