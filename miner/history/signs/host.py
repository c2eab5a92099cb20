"""Techniques that change how a kernel is launched, configured or fed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import FunctionEdit
from ..view import Sign, View, change, gains, loses

_VALUE_TILE = re.compile(r"^(B[VD]|BLOCK_(DV?|V|DMODEL|SIZE_D|HEAD)|BLOCK_?D)\b")
_LIST = re.compile(r"^(\w*(?:NUM_WARPS|NUM_STAGES|CONFIGS?|_LIST|warps|stages|configs)\w*)\s*=.*[\[(]")
_ALLOCATORS = ("torch.empty", "torch.zeros", "torch.empty_like", "torch.zeros_like", "torch.full", "torch.ones")
_CHANGED = re.compile(r"^(cap|tile|config):(\w+)=(\w+)$")


def host_signs(view: View) -> Iterator[Sign]:
    """Signs in launchers, decorators and allocations."""
    for edit in view.hosts:
        yield from _lists(edit)
        yield from _tiles(edit)
        yield from _tensors(edit)
    for kernel in view.kernels:
        yield from _tiles(kernel)
        yield from _decorators(kernel)
    yield from _options(view)


def _tiles(edit: FunctionEdit) -> Iterator[Sign]:
    """A tile that is raised holds more of its dimension: fewer programs repeat what does not depend on it."""
    if not (edit.before and edit.after):
        return
    old, new = (dict(_numbers(facts)) for facts in (edit.lost, edit.gained))
    for name in old.keys() & new.keys():
        before, after = old[name], new[name]
        value = _VALUE_TILE.match(name) is not None
        why = f"{edit.name}: {name} goes from {_text(before)} to {_text(after)}"
        if max(after) > max(before):
            yield Sign("fuse_vtiles", 3 if value else 1, why)
        elif min(after) < min(before):
            yield Sign("split_tiles", 3 if value else 1, why)
        if value and max(after) == float("inf"):
            yield Sign("nonlinear_partial", 1, why)
    for name in sorted(n for n in old if n not in new and _VALUE_TILE.match(n) and f"cap:{n}" in str(edit.lost)):
        yield Sign("nonlinear_partial", 1, f"{edit.name}: {name} has no cap of {_text(old[name])} any more")


def _lists(edit: FunctionEdit) -> Iterator[Sign]:
    """Lists of the values that an autotuner tries, where they stand by themselves."""
    for statement in edit.statements:
        before, after = statement.before or "", statement.after or ""
        match = _LIST.match(after) or _LIST.match(before)
        if match and before and after:
            fewer = after.count(",") < before.count(",")
            yield Sign("widen_autotune", 2, f"{match[1]}: other values are tried", adds=not fewer)


def _numbers(facts: tuple[str, ...]) -> Iterator[tuple[str, set[float]]]:
    found: dict[str, set[float]] = {}
    for fact in facts:
        match = _CHANGED.match(fact)
        if match and match[1] in ("cap", "tile") and (match[3].isdigit() or match[3] == "none"):
            found.setdefault(match[2], set()).add(float("inf") if match[3] == "none" else float(match[3]))
    yield from found.items()


def _text(values: set[float]) -> str:
    return "/".join("no cap" if v == float("inf") else f"{v:g}" for v in sorted(values))


def _tensors(edit: FunctionEdit) -> Iterator[Sign]:
    if not edit.before:
        return
    narrower = loses(edit, "alloc:float32") and not gains(edit, "alloc:float32") and edit.after
    if narrower and loses(edit, *_ALLOCATORS) <= gains(edit, *_ALLOCATORS):  # else the tensor itself is gone
        yield Sign("narrow_output", 3, f"{edit.name}: allocates no float32 any more")
    if loses(edit, ".contiguous") > gains(edit, ".contiguous") and edit.after:
        yield Sign("strided_inputs", 2, f"{edit.name}: copies fewer inputs into a row")
    if loses(edit, ".item", ".tolist") and edit.after:
        yield Sign("fuse_metadata_ops", 1, f"{edit.name}: waits less for the device")
    if gains(edit, "launch:launch_pdl"):
        yield Sign("dependent_launch", 3, f"{edit.name}: launches with a programmatic dependency")


def _decorators(kernel: FunctionEdit) -> Iterator[Sign]:
    dropped = {f.removeprefix("constexpr:") for f in kernel.lost if f.startswith("constexpr:")}
    runtime = {f.removeprefix("runtime:") for f in kernel.gained if f.startswith("runtime:")}
    relaxed = sorted(dropped & runtime)
    if relaxed:
        yield Sign("relax_specialization", 3, f"{kernel.name}: {', '.join(relaxed)} no longer constexpr")
    plain = sorted(f.split(":")[1] for f in kernel.gained if f.startswith("do_not_specialize"))
    if plain:
        yield Sign("relax_specialization", 3, f"{kernel.name}: not specialised on {', '.join(plain)}")
    keys = [f for f in kernel.lost if f.startswith("config_key:")]
    if keys and not any(f.startswith("config_key:") for f in kernel.gained):
        yield Sign("relax_specialization", 2, f"{kernel.name}: tunes for fewer keys")
    if change(kernel, "configs") > 0:
        yield Sign("widen_autotune", 3, f"{kernel.name}: more configurations are tried")
    elif any(f.startswith("config:") for f in kernel.gained) and change(kernel, "configs") == 0:
        yield Sign("widen_autotune", 2, f"{kernel.name}: other configurations are tried")
    elif change(kernel, "configs") < 0:
        yield Sign("widen_autotune", 2, f"{kernel.name}: fewer configurations are tried", adds=False)
    if any(f.startswith("config_key:") for f in kernel.gained) or "config_prune" in kernel.gained:
        yield Sign("widen_autotune", 2, f"{kernel.name}: tunes for more, or prunes what it tries")
    if any(f.startswith("configs:") for f in kernel.gained) and not any(f[:7] == "configs" for f in kernel.lost):
        yield Sign("widen_autotune", 2, f"{kernel.name}: is tuned now")


def _options(view: View) -> Iterator[Sign]:
    for edit in view.hosts:
        for fact in edit.gained:
            if fact.startswith("option:num_stages") and fact.endswith(("_raised", "_lowered")):
                yield Sign("pipeline_loads", 1, f"{edit.name}: another number of stages")
            elif fact.startswith("option:num_warps") and fact.endswith(("_raised", "_lowered")):
                yield Sign("widen_autotune", 1, f"{edit.name}: another number of warps")
