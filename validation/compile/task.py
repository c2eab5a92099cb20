"""Task `compile`: compiles every launch of one workload for one target and reads the figures off the results.

Payload: subject, target, workload (label or None for the first), enable_fp_fusion. Outputs of the run are never looked
at: nothing is launched, so host code behind a launch works on garbage, and what it raises is noted and no failure.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..binaries import identity
from ..isolation.channel import Emit
from ..isolation.child import describe
from ..subject import Subject
from ..workloads import MissingHooks, label_of, load_subject, parameters_of, read_hooks
from . import amd, nvidia
from .launches import CompiledLaunch, KernelError, compiling
from .layout import reductions
from .stub_driver import install
from .targets import Target, target_of


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """Result: `workload` and `launches`, or `no_hooks`. Raises what the compiler raises before any launch compiled."""
    target = target_of(payload["target"])
    subject = Subject.from_dict(payload["subject"])
    install(target.name)
    emit("begin", what="importing it")
    loaded = load_subject(subject, Path.cwd())
    emit("loaded", **loaded.facts())
    try:
        hooks = read_hooks(loaded.hooks_module)
    except MissingHooks as error:
        return {"no_hooks": str(error)}
    offered = hooks.gpu_workloads or hooks.workloads
    chosen = next((w for w in (*offered, *hooks.workloads) if label_of(w) == payload["workload"]), offered[0])
    emit("begin", what=f"compiling for {target.name}, {label_of(chosen)}")
    inputs = hooks.inputs(0, "cpu", parameters_of(chosen))
    after: str | None = None
    with compiling(payload["enable_fp_fusion"]) as launches:
        try:
            hooks.run(inputs)
        except Exception as error:
            if not launches or _from_compiler(error):
                raise
            after = str(describe(error, subject.path)["error"])
    emit("loaded", **loaded.facts())
    unique = {id(launch.compiled): launch for launch in launches}
    return {
        "workload": label_of(chosen),
        "after_launch": after,
        "launches": [
            _figures(launch, target, sum(other.compiled is launch.compiled for other in launches))
            for launch in unique.values()
        ],
    }


def _from_compiler(error: BaseException | None) -> bool:
    """True where a kernel failed to compile, rather than the host code around it."""
    while error is not None:
        if isinstance(error, KernelError) or type(error).__module__.startswith("triton."):
            return True
        error = error.__cause__
    return False


def _figures(launch: CompiledLaunch, target: Target, count: int) -> dict[str, Any]:
    metadata, code = launch.compiled.metadata, launch.compiled.asm
    if target.backend == "cuda":
        read = nvidia.figures(code["cubin"], Path.cwd())
    else:
        read = amd.figures(code["amdgcn"])
    found = reductions(code["ttgir"])
    programs = 1
    for size in launch.grid:
        programs *= size
    return {
        "kernel": launch.kernel,
        "file": Path(launch.file).name,
        "launches": count,
        "grid": list(launch.grid),
        "programs": programs,
        "constexprs": launch.constexprs,
        "num_warps": metadata.num_warps,
        "num_stages": metadata.num_stages,
        "enable_fp_fusion": metadata.enable_fp_fusion,
        "shared_memory_bytes": metadata.shared,
        "identity": identity(launch.compiled),
        "reductions": [{"shape": list(r.shape), "axis": r.axis, "warps": r.warps} for r in found],
        **read,
    }
