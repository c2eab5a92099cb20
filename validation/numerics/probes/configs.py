"""Each configuration of an autotuned kernel alone, on fresh buffers: shared buffers hide a broken one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..guarded_run import guarded_run
from .base import Probe, Setting


def probes(setting: Setting) -> Iterator[Probe]:
    """One probe a configuration; by default of each kernel the first few, as many as `configurations` says."""
    numbers = setting.numbers
    for name, tuner in tuners(setting.module).items():
        chosen = tuner.configs if setting.thorough else tuner.configs[: numbers.configurations]
        for number, config in enumerate(chosen):

            def run(tuner: Any = tuner, config: Any = config) -> dict[str, Any]:
                with frozen(tuner, config):
                    ran = guarded_run(
                        setting.hooks.run, setting.inputs, setting.case, setting.device, numbers.guard_bytes[0], numbers
                    )
                return ran.outputs | {f"input {key}": value for key, value in ran.inputs_after.items()}

            said = {key: value for key, value in config.all_kwargs().items() if value is not None}
            yield Probe("config", f"config.{name}.{number}", run, {"kernel": name, "config": str(said)})


def tuners(module: Any) -> dict[str, Any]:
    """The module's kernels that choose among several configurations, by name."""
    from triton.runtime.autotuner import Autotuner

    return {
        name: value for name, value in vars(module).items() if isinstance(value, Autotuner) and len(value.configs) > 1
    }


@contextmanager
def frozen(tuner: Any, config: Any) -> Iterator[None]:
    """Within: the kernel has no choice."""
    before, tuner.configs = tuner.configs, [config]
    try:
        yield
    finally:
        tuner.configs = before
