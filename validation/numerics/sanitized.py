"""The process under compute-sanitizer: `python -m skel.validation.numerics.sanitized JOB`. Runs a target once.

Without guard zones: an access past a tensor leaves its allocation, and the tool sees it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from ..isolation import audit
from ..subject import Subject
from ..workloads import load_subject, read_hooks
from . import trees
from .sanitizer import MARK


def main() -> int:
    """Raises whatever the target raises."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    # One allocation a tensor: in the caching allocator's large ones the neighbours hide what is out of bounds.
    os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
    import torch
    import triton  # noqa: F401

    from ..isolation.tasks import TASKS

    audit.install((Path.cwd(),), TASKS["sanitize"].programs, lambda code, tried: None)
    folder = Path.cwd() / f"run-{os.getpid()}"
    folder.mkdir()
    hooks = read_hooks(load_subject(Subject.from_dict(job["subject"]), folder).hooks_module)
    inputs = trees.map_tensors(lambda t: t.to(job["device"]), trees.load(Path(job["exchange"]) / f"{job['case']}.pt"))
    hooks.run(inputs)
    if job["device"].startswith("cuda"):
        torch.cuda.synchronize()
    print(MARK, flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
