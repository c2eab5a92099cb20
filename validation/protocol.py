"""Every number of the validation protocol, once. Printed in the evidence, and every one can be set.

The records are plain frozen dataclasses so that a worker can read them without importing the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any, get_type_hints


@dataclass(frozen=True, slots=True)
class Isolation:
    """What one worker may use. A worker that takes more is stopped, and its candidate has failed."""

    compile_seconds: float = 60.0
    """Wall clock for compiling one candidate for one target."""
    run_seconds: float = 300.0
    """Wall clock for compiling, running and comparing one candidate."""
    start_seconds: float = 120.0
    """Wall clock for the start of a worker: importing torch and triton, on a cold and busy disk."""
    file_bytes: int = 4 << 30
    """Largest file a worker may write."""
    output_bytes: int = 8 << 20
    """Most that a worker may print; what goes beyond is lost."""
    resident_megabytes: int = 8192
    """Most resident memory of a worker and its descendants. Watched, as limits on address space break CUDA."""
    processes: int = 64
    """Most processes and threads of a worker."""
    watch_seconds: float = 0.05
    """How often memory, processes and the clock are looked at."""
    parallel: int = 2
    """Workers at a time on the CPU; on a GPU it is one."""


@dataclass(frozen=True, slots=True)
class Correctness:
    """How results are compared, and on which inputs."""

    fixed_seeds: tuple[int, ...] = (0, 1, 2, 3)
    """Seeds known beforehand; one unpredictable and logged seed is added to those taken."""
    seeds: int = 2
    """Seeds a workload by default on the CPU, the unpredictable one included."""
    seeds_full: int = 5
    """Seeds a workload with `--full` and on a GPU, the unpredictable one included."""
    large_scale: float = 10.0
    """Factor of the value class `large`."""
    small_scale: float = 1e-3
    """Factor of the value class `small`."""
    stride_padding: int = 16
    """Elements between the rows of the value class `strided`."""
    reruns: int = 2
    """Runs of one case by default on the CPU; the last has another filling of foreign memory."""
    reruns_full: int = 3
    """Runs of one case with `--full` and on a GPU."""
    rtol_float64: float = 1e-10
    rtol_float32: float = 1e-5
    """For float32 where no sum is reordered."""
    rtol_float32_reordered: float = 1e-4
    """For float32 where sums are reordered: any class but `bitwise`, and whatever is held against a reference."""
    rtol_float16: float = 1e-3
    rtol_bfloat16: float = 1e-2
    rtol_float8_e4m3: float = 0.125
    """One unit in the last place of three mantissa bits."""
    rtol_float8_e5m2: float = 0.25
    """One unit in the last place of two mantissa bits."""
    error_growth: float = 2.0
    """The candidate's pooled RMS error against float64 may be this many times the original's ..."""
    error_growth_eps: float = 4.0
    """... plus this many machine epsilons of the output's dtype times the RMS of the reference."""
    redzone_bytes: int = 65536
    """Guard zone on each side of every tensor; a multiple of 512, so that alignment stays what it was."""
    guard_bytes: tuple[int, int] = (0x3C, 0x41)
    """Fillings of the guard zones, finite in every dtype: the usual one, and that of the last rerun."""
    varied_dimensions: int = 1
    """Integer workload keywords that are varied by default; all with `--full`."""
    configurations: int = 4
    """Configurations of an autotuned kernel that are run alone by default on the CPU; all with `--full`."""
    order_seed: int = 1
    """Seed of the other order in which programs run in the interpreter."""
    parts: tuple[int, ...] = (2, 4, 8)
    """Numbers of parts of the partition check; only the first by default on the CPU."""
    last_part: float = 0.25
    """Part of the last dimension that the sentinel `last tile missing` leaves out."""


@dataclass(frozen=True, slots=True)
class Compile:
    """The compile check for a named target."""

    targets: tuple[str, ...] = ("sm_80", "sm_90", "sm_100", "gfx942")
    """Targets that `--full` compiles for."""
    target: str = "sm_90"
    """The target where none is named and no GPU is there."""
    enable_fp_fusion: bool = True
    """Set explicitly, since Triton's default changes between versions."""
    spill_bytes: int = 0
    """Most bytes a thread may spill where a skeleton's record says nothing."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How original and candidate are timed against each other."""

    timer: str = "cuda graph"
    """The timer's name, see validation/timing/timers.py; figures of different timers are never compared."""
    screening_samples: int = 20
    finalists: int = 2
    """Candidates a workload that go from screening to the finals."""
    warmup_runs: int = 10
    warmup_milliseconds: float = 200.0
    """Of all that are timed together; `warmup_runs` are each one's."""
    final_samples: int = 50
    final_trials: int = 3
    processes: int = 2
    """Fresh processes over which the pairs are spread."""
    median_error: float = 0.005
    """Sampling goes on until the relative error of the median is under this ..."""
    pair_seconds: float = 30.0
    """... or a pair has taken this long."""
    bootstrap_resamples: int = 2000
    confidence: float = 0.95
    control_interval: tuple[float, float] = (0.98, 1.02)
    """Where the interval of original against original must lie."""
    faster_above: float = 1.03
    """`faster` needs the lower bound of the ratio above this."""
    slower_below: float = 0.97
    """`slower` needs the upper bound of the ratio below this."""
    workload_floor: float = 0.98
    """`faster` needs every workload's lower bound at or above this."""
    l2_flush_factor: float = 2.0
    """A cold L2 is made by writing this many times its size."""
    clock_fraction: float = 0.8
    """Samples below this fraction of the peak clock are dropped."""
    suspicious_ratio: float = 10.0
    """A gain above this is flagged."""
    short_kernel_microseconds: float = 10.0
    """Below this the host's launch time is reported too."""
    parallel_checks: int = 4
    """Candidates compiled and checked at a time on the GPU, while nothing is timed."""
    batch: int = 8
    """Candidates that were found right and share one screening process with the original."""
    graph_milliseconds: float = 1.0
    """A timed graph holds so many launches that it takes at least this long: events tick in about a microsecond."""
    graph_launches: int = 1000
    """Most launches in one graph."""
    host_launches: int = 100
    """Launches over which the host's time is taken."""
    floor_probes: int = 32
    """Small pieces of a memory that are changed one by one to see how much of it a launch reads."""
    floor_margin: float = 0.9
    """Faster than this fraction of the floor is impossible; the rest is the error of the measured bandwidth."""
    memory_bound_fraction: float = 0.8
    """An original at this fraction of its floor has nothing left to gain but bytes."""
    bandwidth_bytes: int = 1 << 30
    """Size of the copy that device bandwidth is measured with."""
    reference_bytes: int = 64 << 20
    """Largest inputs of a workload for which the float64 reference is evaluated while timing."""
    own_warps: tuple[int, ...] = (1, 2, 4, 8)
    """Warps tried for the original's own best configuration ..."""
    own_stages: tuple[int, ...] = (1, 2, 3, 4)
    """... and pipeline stages."""
    variants: int = 4
    """Most rewritten variants that a guard may choose between, besides the original ..."""
    kernel_copies: int = 2
    """... and most kernels that they bring with them: variants that differ in the launcher only share one."""
    variant_gain: float = 1.01
    """A variant more must make the guarded geometric mean better by this factor."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """All numbers in force. `to_dict` goes into the evidence; `override` sets single ones."""

    isolation: Isolation = field(default_factory=Isolation)
    correctness: Correctness = field(default_factory=Correctness)
    compile: Compile = field(default_factory=Compile)
    timing: Timing = field(default_factory=Timing)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    def override(self, values: Mapping[str, Any]) -> Protocol:
        """A copy with `{"timing.final_samples": 20}` set.

        Raises KeyError for a name that does not exist, TypeError for a value of another kind.
        """
        changed = self
        for name, value in values.items():
            group_name, _, key = name.partition(".")
            group = getattr(changed, group_name, None)
            if not is_dataclass(group) or isinstance(group, type) or key not in {f.name for f in fields(group)}:
                raise KeyError(f"the protocol has no number {name!r}")
            new_group: Any = replace(group, **{key: _like(name, getattr(group, key), value)})
            changed = replace(changed, **{group_name: new_group})
        return changed

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Protocol:
        """The inverse of `to_dict`. Raises KeyError and TypeError as `override` does."""
        kinds = get_type_hints(cls)
        unknown = set(data) - set(kinds)
        if unknown:
            raise KeyError(f"the protocol has no group {sorted(unknown)}")
        return cls().override(
            {f"{group}.{key}": value for group, values in data.items() for key, value in values.items()}
        )


def _like(name: str, old: object, new: object) -> object:
    """`new` in the kind of `old`: tuples from lists, floats from ints; anything else must be of the same type."""
    if isinstance(old, tuple) and isinstance(new, (list, tuple)):
        return tuple(new)
    if isinstance(old, float) and isinstance(new, int) and not isinstance(new, bool):
        return float(new)
    if type(old) is not type(new):
        raise TypeError(f"{name} is a {type(old).__name__}, not a {type(new).__name__}")
    return new
