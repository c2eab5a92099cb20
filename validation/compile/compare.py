"""Findings of the compile check: limits of the target, and figures against the original's. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from skel.store.schema import Finding, Place

from ..findings import finding
from .report import KernelFigures
from .targets import Target


def limits(
    candidate: str,
    kernels: Sequence[KernelFigures],
    target: Target,
    file: str,
    spill_bytes: int,
    original: Sequence[KernelFigures] = (),
) -> list[Finding]:
    """Spills beyond `spill_bytes` (and beyond what the original spills), and shared memory beyond the target's."""
    found = []
    before = {kernel.kernel: kernel for kernel in original}
    for kernel in kernels:
        place, measured = Place(file=file, kernel=kernel.kernel), f"compile {target.name}"
        allowed = max(spill_bytes, before[kernel.kernel].spill_bytes if kernel.kernel in before else 0)
        if kernel.spill_bytes > allowed:
            found.append(
                finding(
                    "spills",
                    place,
                    severity="error",
                    measured=measured,
                    candidate=candidate,
                    bytes=kernel.spill_bytes,
                    target=target.name,
                    data={"spill_bytes": kernel.spill_bytes, "allowed_bytes": allowed},
                )
            )
        if kernel.shared_memory_bytes > target.shared_memory_bytes:
            found.append(
                finding(
                    "over_shared_memory",
                    place,
                    severity="error",
                    measured=measured,
                    candidate=candidate,
                    bytes=kernel.shared_memory_bytes,
                    target=target.name,
                    limit=target.shared_memory_bytes,
                )
            )
    return found


def against_original(
    candidate: str, kernels: Sequence[KernelFigures], original: Sequence[KernelFigures], target: Target, file: str
) -> list[Finding]:
    """Changed registers, and reductions that cross warps where the original's did not, kernel by kernel."""
    found = []
    before = {kernel.kernel: kernel for kernel in original}
    for kernel in kernels:
        place, measured = Place(file=file, kernel=kernel.kernel), f"compile {target.name}"
        old = before.get(kernel.kernel)
        if old is not None and old.registers != kernel.registers:
            found.append(
                finding(
                    "registers_changed",
                    place,
                    measured=measured,
                    candidate=candidate,
                    after=kernel.registers,
                    before=old.registers,
                    compared_with=f"the original at {old.registers} registers",
                )
            )
        if kernel.widest_reduction > max(1, old.widest_reduction if old else 1):
            found.append(
                finding(
                    "reduction_crosses_warps",
                    place,
                    severity="warning",
                    measured=measured,
                    candidate=candidate,
                    warps=kernel.widest_reduction,
                )
            )
    return found
