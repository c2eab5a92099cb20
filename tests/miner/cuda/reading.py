"""Reading CUDA text in tests."""

from __future__ import annotations

from skel.miner.code.model import MinedKernel
from skel.miner.cuda.mining import mine_cuda


def kernels(text: str, **others: str) -> dict[str, MinedKernel]:
    """What is mined of a file and the others beside it, by name."""
    files = [("a.cuh", text.encode()), *((f"{name}.cuh", other.encode()) for name, other in others.items())]
    mined = mine_cuda(files)
    assert all(file.not_read is None and file.faults == () for file in mined)
    return {kernel.name: kernel for file in mined for kernel in file.kernels}


def uses(kernel: MinedKernel) -> set[str]:
    """Names of the techniques that a kernel uses."""
    return {o.technique for o in kernel.occurrences if o.role == "uses"}
