"""Makes a worker ready for its device: a stub of Triton's driver where there is no GPU."""

from __future__ import annotations


def prepare(device: str) -> None:
    """On the CPU autotuned kernels ask for a driver that is not there; the stub answers, and times nothing."""
    if not device.startswith("cuda"):
        from ..compile.stub_driver import install

        install("sm_90")


def warm() -> None:
    """Imports, in the warm process, what every run of ours imports anyway: run of a target that is no kernel."""
    import torch
    import triton.compiler.code_generator
    import triton.experimental.gluon
    import triton.runtime.interpreter  # noqa: F401

    from ..protocol import Correctness
    from .cases import Case
    from .guarded_run import guarded_run
    from .outputs import compare_values

    case = Case("warm", "warm", {}, 0, "normal", "declared", 1)
    ran = guarded_run(
        lambda inputs: torch.zeros_like(inputs["x"]) + 1, {"x": torch.zeros(4)}, case, "cpu", 1, Correctness()
    )
    compare_values("output", ran.outputs["output"], torch.ones(4), exact=False, reordered=True, numbers=Correctness())
