"""Which NVIDIA GPUs are here, asked of the driver without importing torch."""

from __future__ import annotations

import subprocess
from functools import cache


@cache
def gpu_names() -> tuple[str, ...]:
    """The names of the GPUs that nvidia-smi lists; empty where there are none or it does not answer."""
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(line.partition(" (UUID")[0] for line in listed.stdout.splitlines() if line.startswith("GPU"))


@cache
def architecture() -> str | None:
    """The first GPU's architecture as a target is named, `sm_90`; None where none is known."""
    command = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = said[0].replace(".", "") if said else ""
    return f"sm_{number}" if number.isdigit() else None


def device() -> str:
    """Where kernels are run: `cuda` where there is a GPU, else `cpu` (Triton's interpreter)."""
    return "cuda" if gpu_names() else "cpu"
