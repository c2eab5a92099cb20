"""Stand-ins: definitions that a slice replaces, each with its reason. One table; nothing else is ever replaced.

A stand-in is neutral: it changes which code is reached or what is recorded, never what the kernel under test computes.
It is one line of source, so that the lines of the file keep their numbers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standin:
    """What stands in for a definition: one line of source that binds the same name, and why."""

    text: str
    reason: str


STANDINS: dict[str, Standin] = {
    "fla.backends.dispatch": Standin(
        "def dispatch(entry): return (lambda function: function) if isinstance(entry, str) else entry",
        "it imports every optional backend of the operation; the decorated function, which launches the Triton kernel,"
        " is what it falls back to",
    ),
    "sglang.kernels.ops.attention.fla.utils.custom_device_ctx": Standin(
        "def custom_device_ctx(index): import contextlib; return contextlib.nullcontext()",
        "it selects the device of the inputs through a driver; a worker has one device",
    ),
    "sglang.kernels.ops.attention.kda_packed_decode.covered": Standin(
        "def covered(*args, **kwargs): return False",
        "it sends larger batches to a CUDA kernel that is built at run time; the Triton kernel is the one under test",
    ),
    "sglang.kernels.ops.attention.kda_packed_decode.kda_packed_decode": Standin(
        "def kda_packed_decode(*args, **kwargs): raise NotImplementedError('the CUDA kernel is not part of a slice')",
        "it builds a CUDA kernel at run time; `covered` never sends a batch there",
    ),
    "sglang.srt.utils.custom_op.register_custom_op": Standin(
        "def register_custom_op(fn=None, **options): return fn if fn is not None else lambda function: function",
        "it registers the launcher with PyTorch's dispatcher, which only torch.compile needs; the function is the same",
    ),
}
"""By dotted name of the definition."""


def standins_of(module: str) -> dict[str, str]:
    """The stand-ins of a module's own names: name to source line."""
    split = [(dotted.rpartition("."), standin) for dotted, standin in STANDINS.items()]
    return {name: standin.text for (holder, _, name), standin in split if holder == module}
