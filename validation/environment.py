"""Where a measurement is made: versions, and the GPU where there is one. Read in a worker only."""

from __future__ import annotations

import platform
from typing import Any

from .isolation.channel import Emit

NO_GPU = "cpu (interpreter)"


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """Task `environment`: the fields of the schema's Environment that are known here, as plain values."""
    import torch
    import triton

    facts: dict[str, Any] = {
        "torch": torch.__version__,
        "triton": triton.__version__,
        "python": platform.python_version(),
    }
    if not torch.cuda.is_available():
        return facts | {"device": NO_GPU}
    properties = torch.cuda.get_device_properties(0)
    facts |= {
        "device": properties.name,
        "multiprocessors": properties.multi_processor_count,
        "l2_bytes": getattr(properties, "L2_cache_size", None),
    }
    if torch.version.hip:
        return facts | {"architecture": properties.gcnArchName.split(":")[0]}
    return facts | {"architecture": f"sm_{properties.major}{properties.minor}", "cuda": torch.version.cuda} | _driver()


def machine() -> dict[str, Any]:
    """Device and versions alone: what must not change within one measurement."""
    import torch
    import triton

    device = torch.cuda.get_device_properties(0).name if torch.cuda.is_available() else NO_GPU
    return {"device": device, "torch": torch.__version__, "triton": triton.__version__}


def _driver() -> dict[str, Any]:
    """Driver, clock and power, from nvidia-smi; empty where it does not answer."""
    import subprocess

    query = "--query-gpu=driver_version,clocks.sm,power.draw"
    try:
        done = subprocess.run(
            ["nvidia-smi", query, "--format=csv,noheader,nounits", "-i", "0"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        driver, clock, power = (field.strip() for field in done.stdout.split(","))
        return {"driver": driver, "clock_mhz": float(clock), "power_watts": float(power)}
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
