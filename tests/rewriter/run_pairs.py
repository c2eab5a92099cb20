"""Runs original and rewritten kernels side by side: `run_pairs.py interpret|compile`, tasks as JSON on standard input.

`interpret`: both run on the CPU on three seeds and must agree, to the bit where the primitive says so. `compile`: every
launch of both is compiled for sm_90 with a driver that launches nothing. The last line printed is a JSON object: name
to problem.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

EXACT = frozenset(
    {
        *("widen_index", "reuse_subexpression", "pipeline_loads", "cache_hints", "block_pointer_to_mask"),
        *(
            "defer_state_load",
            "elide_masks",
            "relax_specialization",
            "hoist_producer",
            "reorder_grid",
            "persistent_grid",
        ),
        "parallelise_loop",
        "specialise_clone",
        "alignment_hints",
        "widen_autotune",
    }
)
"""Primitives that change no bit."""


def load(path: str, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def interpret(primitive: str, before: str, after: str) -> str:
    import torch
    from triton.runtime.autotuner import Autotuner

    original, result = load(before, "original"), load(after, "result")
    for value in (*vars(original).values(), *vars(result).values()):
        if isinstance(value, Autotuner):
            value.configs = value.configs[-1:]  # one is taken without timing, which needs a device
    for seed in range(3):
        expected, found = (m.run(m.make_inputs(seed)) for m in (original, result))
        pairs = zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]
        for a, b in pairs:
            if not torch.isfinite(a).all() or not a.abs().max() > 0:
                return "the original gives nothing to compare"
            exact = primitive in EXACT
            if not (torch.equal(a, b) if exact else torch.allclose(a, b, rtol=2e-5, atol=1e-6)):
                return f"differ by {(a - b).abs().max().item()}"
    return ""


class Compiled:
    """Stands for a kernel: launching it compiles it."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __getitem__(self, grid: Any) -> Any:
        return lambda *args, **kwargs: self.kernel.warmup(*args, grid=grid, **kwargs)


def compile_both(primitive: str, before: str, after: str) -> str:
    from triton.runtime.jit import KernelInterface

    for path in (before, after):
        module = load(path, Path(path).stem)
        for name, value in list(vars(module).items()):
            if isinstance(value, KernelInterface) and name.endswith("_kernel"):
                setattr(module, name, Compiled(value))
        module.run(module.make_inputs(0))
    return ""


def main(mode: str) -> None:
    if mode == "interpret":
        os.environ["TRITON_INTERPRET"] = "1"
    else:
        from skel.validation.compile.stub_driver import install

        install("sm_90")
    problems = {}
    for name, primitive, before, after in json.load(sys.stdin):
        try:
            problems[name] = (interpret if mode == "interpret" else compile_both)(primitive, before, after)
        except Exception as error:  # what Triton raises is the result
            problems[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(problems))


if __name__ == "__main__":
    main(sys.argv[1])
