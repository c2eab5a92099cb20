"""dependent_launch. Used: a kernel waits for the one before it, or lets the next one start, inside its own body."""

from __future__ import annotations

from skel.rewriter.detectors.base import Seen

from ..functions import CudaFunction
from ..index import CudaDetector, Index

_CALLS = frozenset({
    "cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion", "wait_on_dependent_grids",
    "launch_dependent_grids",
})  # fmt: skip


def direct(function: CudaFunction) -> list[Seen]:
    """Waits and signals in the function itself."""
    found = [Seen(call.line, f"calls {call.name}") for call in function.calls if call.name in _CALLS]
    return found + [
        Seen(line, "issues griddepcontrol") for line, text in function.assembly if "griddepcontrol." in text
    ]


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    return index.through(function, "dependent launches", direct)


DETECTOR = CudaDetector("dependent_launch", _uses)
