"""Techniques that change what one kernel does and what another is left to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import FunctionEdit
from ..view import Sign, View, change, gains, matching

_DOTS = ("tl.dot", "tl.dot_scaled")
_FUSED = re.compile(r"fus|merge|combin|_and_|inter_solve|prepare", re.IGNORECASE)
_BY_FLAG = re.compile(r"(IN_KERNEL|FUSE\w*|HAS_GATE|WITH_\w+|USE_\w*(NORM|GATE|CUMSUM|SIGMOID|BIAS|ROPE)\w*|HAS_BIAS)$")
_OUT_FLAG = re.compile(r"(EPILOGUE|FUSE\w*OUT|STORE_\w+|HAS_O_?NORM|SAVE_\w+)", re.IGNORECASE)
_PAIR = re.compile(r"(^|_)(pair|qk|qkv|kv|both|dual|multi)(_|$)|_pair", re.IGNORECASE)
_INVERSE = re.compile(r"csr|inverse|indptr|offsets|gather|sorted_|permut", re.IGNORECASE)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_SIZES = re.compile(r"\[(B\w*), (B\w*)\]")
_FIRST = re.compile(r"\b(i_\w+|pid\w*|\w+_id|\w+_idx)\s*==\s*0\b")
_LIST_PART = re.compile(r"^(\w*?)_?(indices|index|indptr|offsets|starts|ptr)$")
_STATISTIC = re.compile(r"lse|score|rstd|mean|stat|max|denom|norm|sum|logits|delta", re.IGNORECASE)
_RING = re.compile(r"replay|ring|write_pos|checkpoint|flush|buffered", re.IGNORECASE)
_SPLIT_KV = re.compile(r"(split_?kv|kv_?split|num_?kv_?splits|num_splits)", re.IGNORECASE)
_SPLIT_K = re.compile(r"(split_?k(?!v)|k_?splits?\b)", re.IGNORECASE)
_LAYOUT = re.compile(r"(V_FIRST|VK_?LAYOUT|KV_?LAYOUT|TRANSPOSE_?STATE|STATE_?LAYOUT|v_major|k_last|vk)", re.IGNORECASE)


def structure_signs(view: View) -> Iterator[Sign]:
    """Signs that need more than one function, or a kernel's whole shape."""
    yield from _grids(view)
    yield from _fusions(view)
    yield from _names(view)
    yield from _statistics(view)
    yield from _clones(view)
    yield from _layouts(view)
    yield from _guards(view)


def _layouts(view: View) -> Iterator[Sign]:
    """Tiles whose two sizes change places, and with them the order in which memory is read."""
    for kernel in view.kernels:
        swapped = [
            s.after
            for s in kernel.statements
            if s.before and s.after and s.before != s.after and "[B" in s.after and _turned(s.before, s.after)
        ]
        if swapped:
            yield Sign("state_layout", 3, f"{kernel.name}: {swapped[0][:60]}")


def _turned(before: str, after: str) -> bool:
    """True where only the order of names inside brackets differs."""
    return sorted(_TOKEN.findall(before)) == sorted(_TOKEN.findall(after)) and any(
        f"[{b}, {a}]" in after for a, b in _SIZES.findall(before)
    )


def _guards(view: View) -> Iterator[Sign]:
    """A condition that lets one program of an axis do what all did."""
    for kernel in view.kernels:
        for statement in kernel.statements:
            new, old = statement.after or "", statement.before or ""
            if new.startswith("if ") and _FIRST.search(new) and not _FIRST.search(old):
                known = gains(kernel, "tl.store") == 0  # what is guarded now was stored before
                yield Sign("unguarded_invariant_store", 3 if known else 1, f"{kernel.name}: {new[:60]}")
                break


def _grids(view: View) -> Iterator[Sign]:
    for kernel in view.kernels:
        axes = change(kernel, "axes")
        if axes < 0 and ("decodes_ids" in kernel.gained or gains(kernel, "%", "//")) and change(kernel, "loops") <= 0:
            yield Sign("reorder_grid", 3, f"{kernel.name}: grid axes are flattened into one and decoded")
        elif "decodes_ids" in kernel.gained:
            yield Sign("reorder_grid", 2, f"{kernel.name}: decodes its program ids")
        elif gains(kernel, "tl.swizzle2d"):
            yield Sign("reorder_grid", 3, f"{kernel.name}: programs are visited in another order")
        elif axes == 0 and _swaps_axes(kernel):
            yield Sign("reorder_grid", 2, f"{kernel.name}: program ids change places")
        if axes > 0 and change(kernel, "loops") < 0:
            yield Sign("parallelise_loop", 3, f"{kernel.name}: a loop becomes a grid axis")
        if axes > 0 and gains(kernel, "tl.atomic_add"):
            yield Sign("split_k", 1, f"{kernel.name}: another grid axis, whose programs add up atomically")
        if axes < 0 and change(kernel, "loops") > 0 and "strided_loop" not in kernel.gained:
            yield Sign("loop_tiles", 2, f"{kernel.name}: a grid axis becomes a loop")


def _swaps_axes(kernel: FunctionEdit) -> bool:
    both = [(s.before or "", s.after or "") for s in kernel.statements]
    moved = [(b, a) for b, a in both if "tl.program_id" in b and "tl.program_id" in a]
    return any(sorted(b) == sorted(a) and b != a for b, a in moved)


def _fusions(view: View) -> Iterator[Sign]:
    gone = {e.name for e in view.gone_kernels}
    launched_less = {t.removeprefix("launch:") for h in view.hosts for t in h.removed if t.startswith("launch:")}
    launched_less -= {t.removeprefix("launch:") for h in view.hosts for t in h.added if t.startswith("launch:")}
    called_less = {t for h in view.hosts if h.before and h.after for t in h.removed if t.startswith("call:")}
    called_less -= {t for h in view.hosts for t in h.added if t.startswith("call:")}
    fewer = gone | {n for n in launched_less if n.islower()}
    bigger = [k for k in [*view.kernels, *view.new_kernels] if gains(k, *_DOTS) >= 2]
    for kernel in bigger:
        named = _FUSED.search(kernel.name) is not None
        if fewer and (named or len(kernel.parameters_added) >= 1):
            yield Sign("merge_kernel_chain", 2, f"{kernel.name}: takes over products of {_few(fewer)}")
        elif named and called_less:
            yield Sign("merge_kernel_chain", 2, f"{kernel.name}: takes over what {_few(called_less)} did")
    for kernel in view.kernels:
        flags = matching((f.removeprefix("constexpr:") for f in kernel.gained if f.startswith("constexpr:")), _BY_FLAG)
        outs = matching((f.removeprefix("constexpr:") for f in kernel.gained if f.startswith("constexpr:")), _OUT_FLAG)
        stored = [f for f in kernel.gained if f.startswith("stores:")]
        if flags and not outs:
            yield Sign("fuse_prologue", 2, f"{kernel.name}: {_few(flags)}")
        if outs or (stored and (fewer or called_less) and gains(kernel, "tl.load")):
            yield Sign("fuse_epilogue", 2, f"{kernel.name}: stores {_few(stored) or _few(outs)} too")
        elementwise = gains(kernel, "tl.cumsum", "tl.exp", "tl.exp2", "tl.sigmoid", "tl.sqrt", "tl.rsqrt", "tl.log")
        if elementwise and not gains(kernel, *_DOTS) and (fewer or called_less):
            yield Sign("fuse_prologue", 2, f"{kernel.name}: does itself what {_few(fewer or called_less)} did")
    fused = {t.split(":")[1] for h in view.hosts for t in h.added if t.startswith(("call:", "launch:")) and "fus" in t}
    for skeleton in ("fuse_epilogue", "fuse_prologue", "fuse_sibling_launches") if fused else ():
        yield Sign(skeleton, 1, f"calls {_few(fused)}")
    for kernel in view.new_kernels:
        if kernel.name in gone:
            continue
        if _PAIR.search(kernel.name):
            yield Sign("fuse_sibling_launches", 2, f"{kernel.name}: one launch for several tensors")
        if re.search(r"fus|_and_|cumsum_|gate_", kernel.name, re.I) and not gains(kernel, *_DOTS):
            if gains(kernel, "tl.cumsum", "tl.exp", "tl.exp2", "tl.sigmoid", "tl.log", "tl.load") >= 2:
                yield Sign("fuse_prologue", 1, f"{kernel.name}: several elementwise steps in one kernel")
            if gains(kernel, "tl.sum", "tl.rsqrt", "tl.sqrt"):
                yield Sign("fuse_epilogue", 1, f"{kernel.name}: a norm with what follows it in one kernel")
        if re.search(r"norm", kernel.name, re.I) and gains(kernel, "tl.sum", "tl.rsqrt") and not gains(kernel, *_DOTS):
            yield Sign("fuse_epilogue", 1, f"{kernel.name}: a norm as one kernel")
            yield Sign("fuse_sibling_launches", 1, f"{kernel.name}: a norm as one kernel")


def _names(view: View) -> Iterator[Sign]:
    for kernel in [*view.kernels, *view.new_kernels]:
        names = [*kernel.parameters_added, *kernel.parameters, *([kernel.name] if kernel.before is None else [])]
        for skeleton, pattern, strength in (
            ("split_kv", _SPLIT_KV, 2),
            ("split_k", _SPLIT_K, 2),
            ("state_layout", _LAYOUT, 2),
        ):
            found = matching(names, pattern)
            if found:
                yield Sign(skeleton, strength, f"{kernel.name}: {_few(found)}")
        ring = matching(names, _RING)
        if ring:
            yield Sign("replay_ring", 2 if len(ring) > 1 else 1, f"{kernel.name}: {_few(ring)}")
        if _lists(kernel.parameters_added) and not gains(kernel, "tl.atomic_add"):
            yield Sign(
                "gather_batch_mma", 2, f"{kernel.name}: walks lists of rows, {_few(_lists(kernel.parameters_added))}"
            )
        elif matching(names, _INVERSE) and gains(kernel, *_DOTS):
            yield Sign("gather_batch_mma", 1, f"{kernel.name}: gathers rows for its products")


def _lists(parameters: tuple[str, ...]) -> list[str]:
    """Parameters that together are lists in one array: `x_indices` with `x_offsets`."""
    stems: dict[str, set[str]] = {}
    for name in parameters:
        match = _LIST_PART.match(name)
        if match:
            stems.setdefault(match[1], set()).add(
                "index" if match[2].startswith("ind") and match[2] != "indptr" else "start"
            )
    whole = {stem for stem, parts in stems.items() if len(parts) == 2}
    return [n for n in parameters if (m := _LIST_PART.match(n)) and m[1] in whole]


def _statistics(view: View) -> Iterator[Sign]:
    """A tensor that one kernel begins to store and another to load."""
    writers = [*view.kernels, *view.new_kernels]
    stored = {f.removeprefix("stores:") for k in writers for f in k.gained if f.startswith("stores:")}
    for kernel in view.kernels:
        loaded = {f.removeprefix("loads:") for f in kernel.gained if f.startswith("loads:")}
        shared = sorted(n for n in loaded & stored if n in kernel.parameters_added)
        lighter = sum(kernel.removed.get(t, 0) for t in ("tl.sum", "tl.dot", "tl.load", "tl.exp")) > 0
        if shared and ("bwd" in kernel.name or "backward" in kernel.name):
            sure = 3 if lighter and any(_STATISTIC.search(n) for n in shared) else 2
            yield Sign("save_statistic", sure, f"{kernel.name}: loads {_few(shared)}, which another kernel saves")


def _clones(view: View) -> Iterator[Sign]:
    """A new kernel that does one case of one that is there already."""
    for kernel in view.new_kernels:
        if re.search(r"packed|decode|t1\b|single|special|fast|small|one_step|uniform", kernel.name, re.IGNORECASE):
            if "loops" not in kernel.gained and gains(kernel, "tl.load") >= 2:
                yield Sign("specialise_clone", 2, f"{kernel.name}: a kernel without a loop for one case")
            if any("stride" in p for p in kernel.parameters):
                yield Sign("strided_inputs", 1, f"{kernel.name}: reads strided input")


def _few(names: object) -> str:
    found = sorted(str(n).removeprefix("call:") for n in names)  # type: ignore[attr-defined]
    return ", ".join(found[:3]) + (", ..." if len(found) > 3 else "")
