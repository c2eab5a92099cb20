"""Two versions compiled for this machine's GPU, so that a slower one can say what changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def compiled_pair(
    original: str, file: str, candidate: str, other: str, workload: str | None, target: str,
    progress: Callable[[str, dict[str, Any]], None],
) -> dict[str, Any]:
    """The document's part `compile` for two files; the candidate is `other`. Raises WorkerError, SidecarError."""
    from skel.validation.compile.check import compile_check
    from skel.validation.subject import CandidateSource
    from skel.validation.workloads import subject_of

    subject = subject_of(original, file, workload)
    first, reports = compile_check(subject, [CandidateSource(other, candidate)], target=target, progress=progress)
    return {
        "target": target,
        "workload": first.workload,
        "reports": [one.model_dump(mode="json", exclude={"findings", "seconds"}) for one in (first, *reports)],
    }
