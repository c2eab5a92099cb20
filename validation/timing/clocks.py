"""The GPU's clock, temperature and reasons to throttle, read and never set."""

from __future__ import annotations

import importlib
from typing import Any


class Clocks:
    """Readings of one GPU through NVML; without it every reading is empty, and no sample is ever dropped."""

    def __init__(self, available: bool = True) -> None:
        self._nvml: Any = None
        if available:
            try:
                pynvml: Any = importlib.import_module("pynvml")

                pynvml.nvmlInit()
                self._handle = pynvml.nvmlDeviceGetHandleByIndex(_physical_index())
                self._peak = float(pynvml.nvmlDeviceGetMaxClockInfo(self._handle, pynvml.NVML_CLOCK_SM))
                self._nvml = pynvml
            except Exception:
                # No library, no driver, no right to ask: then nothing is known, and the evidence says so.
                self._nvml = None

    @property
    def known(self) -> bool:
        return self._nvml is not None

    def fraction(self) -> float | None:
        """The SM clock now, as a fraction of the highest that the card offers; None where unknown."""
        if self._nvml is None:
            return None
        return float(self._nvml.nvmlDeviceGetClockInfo(self._handle, self._nvml.NVML_CLOCK_SM)) / self._peak

    def facts(self) -> dict[str, Any]:
        """Clock and peak (MHz), temperature (Celsius), power (watts), throttle reasons (NVML's bit mask)."""
        if self._nvml is None:
            return {}
        nvml, handle = self._nvml, self._handle
        return {
            "clock_mhz": nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
            "peak_clock_mhz": self._peak,
            "temperature_celsius": nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
            "power_watts": nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
            "throttle_reasons": nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle),
        }


def _physical_index() -> int:
    """The index of the GPU that CUDA calls 0, as NVML counts."""
    import os

    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    return int(first) if first.isdigit() else 0
