"""What a kernel takes of a device, from its source alone: registers of a thread, and waves of its grid.

Each is a number with its reason, or unknown with the reason: nothing is assumed to fill a gap.

Registers are those of the largest block, by its dtype, over the threads of a program: a lower bound of what a compiler
gives it. Waves are programs over what the target holds at a time, bounded by warps and by those registers.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from math import prod

from ..analysis.value import Value
from ..detectors.view import KernelView
from ..kernel.configurations import decorator_argument, warp_choices
from ..kernel.grid import read_grid
from ..kernel.idioms import constant_value, follow
from ..reasons import Refuse
from .estimates import number

TARGET = "sm_90"
MULTIPROCESSORS = 132
"""Of an H100 or H200 SXM; NVIDIA's data sheet."""
RESIDENT_WARPS, RESIDENT_PROGRAMS, REGISTERS = 64, 32, 65536
"""Of one multiprocessor of compute capability 9.0; CUDA C++ programming guide, technical specifications."""
DEFAULT_WARPS = 4
"""Triton's own, where a launch says nothing."""
_BYTES = {"fp64": 8, "int64": 8, "uint64": 8, "fp16": 2, "bf16": 2, "int16": 2, "uint16": 2, "int8": 1, "uint8": 1,
          "int1": 1}
_MULTIPROCESSORS = re.compile(r"multi_?processor|num_?sms?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Known:
    """A figure with its reason; None where it is unknown."""

    value: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one program takes, and how many there are."""

    registers_per_thread: Known
    waves: Known


def footprint(view: KernelView) -> Footprint:
    """The footprint of a kernel as its launches in the file start it."""
    warps, warps_why = _warps(view)
    registers = _registers(view, warps, warps_why)
    return Footprint(registers, _waves(view, warps, registers.value))


def _registers(view: KernelView, warps: int | None, why: str) -> Known:
    sizes = _sizes(view)
    largest, shown = 0.0, ""
    unknown: dict[str, None] = {}
    # In the order of the source, so that of two blocks of one size always the same is named.
    for value in dict.fromkeys(v for events in view.facts.runs for v in events.values.values() if v.dims):
        lengths = [_length(dim.size, sizes) for dim in value.dims or ()]
        missing = [dim.size or "a block" for dim, n in zip(value.dims or (), lengths, strict=True) if n is None]
        if missing:
            unknown |= dict.fromkeys(missing)
        elif (size := prod(n for n in lengths if n is not None) * _width(value) / 4) > largest:
            largest = size
            shown = f"[{', '.join(map(str, lengths))}] {value.dtype or 'of 32 bits'}"
    if unknown:
        return Known(None, f"the size of {', '.join(sorted(unknown)[:3])} is not in the source")
    if not shown:
        return Known(None, "it has no block of a known shape")
    if warps is None:
        return Known(None, why)
    return Known(round(largest / (32 * warps), 1), f"its largest block is {shown}, over {warps} warps{why}")


def _width(value: Value) -> int:
    """Bytes of an element; what is not known is taken for 32 bits, in which kernels compute."""
    return _BYTES.get(value.dtype or "", 4)


def _length(key: str | None, sizes: dict[str, int]) -> int | None:
    """A dimension's length from its key: a number, a name, or a product of them."""
    parts = [int(p) if p.isdigit() else sizes.get(p) for p in (key or "?").split("*")]
    known = [p for p in parts if p is not None]
    return prod(known) if len(known) == len(parts) else None


def _sizes(view: KernelView) -> dict[str, int]:
    """Parameters that every launch gives the same number, or its cap; of tuned ones the largest; and defaults."""
    found: dict[str, int] = {}
    for parameter in view.kernel.parameters:
        given = [launch.arguments[parameter.name] for launch in view.launches if parameter.name in launch.arguments]
        values = {_constant(view, node) for node in given or [d for d in (parameter.default,) if d is not None]}
        if not values:
            values = {max(tuned)} if (tuned := _tuned(view, parameter.name)) else set()
        if len(values) == 1 and (only := values.pop()) is not None:
            found[parameter.name] = only
    return found


def _constant(view: KernelView, node: ast.expr) -> int | None:
    value = constant_value(view.module, node)
    return value if type(value) is int else number(follow(view.module, node)[0])


def _tuned(view: KernelView, name: str) -> list[int]:
    """Literal values of a parameter in the autotuner's configurations; none where some are not literal."""
    tables = [n for n in ast.walk(view.kernel.autotune) if isinstance(n, ast.Dict)] if view.kernel.autotune else []
    given = [v for t in tables for k, v in zip(t.keys, t.values, strict=True)
             if isinstance(k, ast.Constant) and k.value == name]
    values = [v.value for v in given if isinstance(v, ast.Constant) and type(v.value) is int]
    return values if len(values) == len(given) else []


def _warps(view: KernelView) -> tuple[int | None, str]:
    """The warps of a program, with words for how they are known; None with the reason."""
    configs = decorator_argument(view.kernel, "configs", 0)
    if configs is not None:
        choices = warp_choices(view.module, configs)
        if choices is None:
            return None, "its autotuner's warps are not in the source"
        return min(choices.values), " (the fewest that are tuned)"
    given = [launch.options["num_warps"].value for launch in view.launches if "num_warps" in launch.options]
    if any(launch.splats for launch in view.launches):
        return None, "its launch takes options from elsewhere"
    values = {_constant(view, node) for node in given}
    if len(given) < len(view.launches) or not given:
        values.add(DEFAULT_WARPS)
    if len(values) > 1 or None in values:
        return None, "its warps follow from the launch"
    return values.pop(), "" if given else " (Triton's default)"


def _waves(view: KernelView, warps: int | None, registers: float | None) -> Known:
    if not view.launches:
        return Known(None, "no launch of it is in the file")
    counts = set()
    for launch in view.launches:
        try:
            dims = read_grid(view.module, launch).dims
        except Refuse:
            return Known(None, "its grid cannot be read")
        sizes = [_constant(view, dim) for dim in dims]
        missing = [ast.unparse(dim) for dim, size in zip(dims, sizes, strict=True) if size is None]
        if missing and any(_MULTIPROCESSORS.search(_source(view, dim)) for dim in dims):
            return Known(1.0, "its grid is made for the multiprocessors there are")
        if missing:
            return Known(None, f"its grid follows from {', '.join(dict.fromkeys(missing))}")
        counts.add(prod(size for size in sizes if size is not None))
    if len(counts) > 1:
        return Known(None, "its launches have grids of several sizes")
    programs = counts.pop()
    resident = min(RESIDENT_PROGRAMS, RESIDENT_WARPS // (warps or DEFAULT_WARPS))
    if registers:
        resident = max(1, min(resident, int(REGISTERS / (registers * 32 * (warps or DEFAULT_WARPS)))))
    waves = programs / (MULTIPROCESSORS * resident)
    return Known(round(waves, 3), f"{programs} programs, {resident} at a time on each of {MULTIPROCESSORS} "
                                  f"multiprocessors of {TARGET}")


def _source(view: KernelView, node: ast.expr) -> str:
    """An expression with what the names in it were assigned."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    return " ".join(ast.unparse(n) for n in (node, *(follow(view.module, name)[0] for name in names)))
