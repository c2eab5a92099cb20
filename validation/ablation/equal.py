"""Whether a launch without the technique leaves the same memory behind as the expert's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..numerics.outputs import compare_values
from ..protocol import Correctness
from ..timing.memory import Pool, touched_tensors
from ..timing.recording import Launch, Recording
from ..timing.variants import same_bits

REORDERED_WITH_HALVES = 1e-2
"""Relative tolerance of fp32 results where 16-bit operands were rounded on the way."""
CHANGED_DTYPE = 2e-2
"""Where the precision of a product is another one: operands keep 10 bits of mantissa."""
EXACT = ("bitwise",)
_NOT_CODE = re.compile(r"^\s*(//.*|\.(loc|file)\s.*)$", re.MULTILINE)
"""Comments and places in the source, whose columns an edit shifts."""


def left_behind(recording: Recording, launch: Launch, synchronize: Any) -> dict[str, Any]:
    """The tensors of the launch after it was made on a copy of the recorded memory, by number.

    The launch knows its compiled kernel afterwards.
    """
    pool = Pool(recording, [launch], 1)
    launch.compiled = pool.place(launch, 0)()
    synchronize()
    tensors = touched_tensors([launch]).values()
    return {str(number): pool.view(tensor, 0) for number, tensor in enumerate(tensors)}


def written(recording: Recording, launch: Launch, after: dict[str, Any]) -> list[str]:
    """The tensors that the launch changed."""
    pool = Pool(recording, [launch], 1)
    tensors = touched_tensors([launch]).values()
    return [n for n, tensor in zip(after, tensors, strict=True) if not same_bits(pool.view(tensor, 0), after[n])]


def difference(got: dict[str, Any], expected: dict[str, Any], numerics: str, numbers: Correctness) -> dict[str, Any]:
    """`equal`: `bitwise`, `close` (within the tolerance of the class) or `differs`, then with the fact `why`."""
    unequal = [name for name, right in expected.items() if not same_bits(got[name], right)]
    if not unequal:
        return {"equal": "bitwise"}
    halves = any(tensor.is_floating_point() and tensor.element_size() < 4 for tensor in expected.values())
    rtol = CHANGED_DTYPE if numerics == "dtype_changed" else REORDERED_WITH_HALVES if halves else None
    loosened = replace(numbers, rtol_float32_reordered=rtol) if rtol else numbers
    if rtol == CHANGED_DTYPE:
        loosened = replace(loosened, rtol_bfloat16=rtol, rtol_float16=rtol)
    for name in unequal:
        exact = numerics in EXACT
        fault = compare_values(name, got[name], expected[name], exact=exact, reordered=not exact, numbers=loosened)
        if fault:
            return {"equal": "differs", "why": fault["code"], "fields": fault["fields"], "tolerance": rtol}
    return {"equal": "close", "tolerance": rtol}


def same_code(launches: Sequence[Launch]) -> bool:
    """True where all were compiled to the same instructions: then there is nothing to measure."""
    texts = [_instructions(launch) for launch in launches]
    return None not in texts and len(set(texts)) == 1


def _instructions(launch: Launch) -> str | None:
    text = getattr(launch.compiled, "asm", {}).get("ptx")
    if not isinstance(text, str):
        return None
    code = text.split(".section\t.debug", 1)[0]
    return re.sub(r"\n\s*\n+", "\n", _NOT_CODE.sub("", re.sub(r"\$?L__?tmp\d+:", "", code)))
