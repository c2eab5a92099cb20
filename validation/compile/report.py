"""What the compile check found, for one candidate and one target."""

from __future__ import annotations

from typing import Any

from skel.store.schema import Finding, Record


class ReductionFigures(Record):
    """A reduction in the compiled kernel."""

    shape: tuple[int, ...]
    axis: int
    warps: int
    """Over how many warps it goes; 1 stays inside a warp."""


class KernelFigures(Record):
    """One compiled kernel of a run, as the compiler made it."""

    kernel: str
    file: str
    launches: int
    """How often the run launches this binary."""
    grid: tuple[int, ...]
    programs: int
    constexprs: dict[str, Any]
    num_warps: int
    num_stages: int
    enable_fp_fusion: bool | None = None
    shared_memory_bytes: int
    registers: int
    """A thread."""
    stack_bytes: int
    """A thread."""
    spill_bytes: int
    """A thread; 0 where local memory is never loaded or stored."""
    waves_per_simd: int | None = None
    """AMD only."""
    instructions: dict[str, int]
    """Static counts by group: transcendentals, shuffles, barriers, matrix, global loads by width, ..."""
    reductions: tuple[ReductionFigures, ...] = ()
    identity: dict[str, Any]
    """What the binary is and what it follows from; see `validation/binaries.py`."""

    @property
    def binary_sha256(self) -> str:
        """Of the code, without debugging information."""
        return str(self.identity["binary_sha256"])

    @property
    def widest_reduction(self) -> int:
        """Most warps that any reduction goes over."""
        return max((reduction.warps for reduction in self.reductions), default=1)


class CompileReport(Record):
    """One candidate compiled for one target."""

    candidate: str
    source_sha256: str
    target: str
    workload: str | None = None
    """The workload whose launches were compiled."""
    compiled: bool
    """True where every launch compiled."""
    within_limits: bool
    """True where it compiled, spills nothing that the original does not, and fits into shared memory."""
    kernels: tuple[KernelFigures, ...] = ()
    after_launch: str | None = None
    """What host code raised on the garbage behind the last launch; no failure."""
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0
