"""Kernels of V-tile fusion given as bodies: their facts, their store classes, and what fusing makes of them."""

from __future__ import annotations

import ast
import os
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from skel.rewriter.analysis.facts import Facts, analyse
from skel.rewriter.analysis.lanes import LaneReport, lane_report
from skel.rewriter.kernel.definition import load_module
from skel.rewriter.kernel.edits import apply_edits
from skel.rewriter.primitives.fuse_axis_loop import fuse_axis_loop
from skel.rewriter.primitives.fuse_axis_widen import fuse_axis_widen
from skel.rewriter.reasons import Refuse

GOLDEN = Path(__file__).parents[1] / "golden"
HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
SIGNATURE = (
    "k, v, y, s, R, T, V, K: tl.constexpr, NV: tl.constexpr, FLAG: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr"
)
PROLOGUE = """
i_v, i_b = tl.program_id(0), tl.program_id(1)
o_k = tl.arange(0, BK)
o_v = i_v * BV + tl.arange(0, BV)
b_k = tl.load(k + i_b * K + o_k, mask=o_k < K, other=0.0)
c = tl.sum(b_k * b_k)
b_v = tl.load(v + i_b * V + o_v, mask=o_v < V, other=0.0)
"""
LAUNCHER = """

def launch(k, v, y, s, R, T, V, K, FLAG):
    BV = 16
    kernel[(triton.cdiv(V, BV), R)](k, v, y, s, R, T, V, K=K, NV=1, FLAG=FLAG, BK=16, BV=BV)
"""
PRIMITIVES = {"fuse_axis_widen": fuse_axis_widen, "fuse_axis_loop": fuse_axis_loop}


def source_of(body: str, *, prologue: str = PROLOGUE, helpers: str = "", launcher: str = LAUNCHER) -> str:
    """A file with one kernel of that body behind the usual prologue, and its launcher."""
    inner = textwrap.indent(prologue.strip("\n") + "\n" + textwrap.dedent(body).strip("\n") + "\n", "    ")
    return f"{HEAD}{textwrap.dedent(helpers)}@triton.jit\ndef kernel({SIGNATURE}):\n{inner}{launcher}"


@pytest.fixture
def facts() -> Callable[..., Facts]:
    """`facts(body)`: what the analysis knows of the kernel."""

    def run(body: str, **parts: str) -> Facts:
        module = load_module(source_of(body, **parts), "case.py")
        return analyse(module, module.kernels_named("kernel")[0])

    return run


@pytest.fixture
def report(facts: Callable[..., Facts]) -> Callable[..., LaneReport]:
    """`report(body)`: the lane report of the kernel along its first tiled axis, or the one of that name."""

    def run(body: str, axis: str = "i_v", derived: Iterable[str] = (), **parts: str) -> LaneReport:
        found = facts(body, **parts)
        (chosen,) = [a for a in found.tiled_axes if found.axis_name(a) == axis]
        return lane_report(found, chosen, derived=frozenset(derived))

    return run


@pytest.fixture
def classes(report: Callable[..., LaneReport]) -> Callable[..., str]:
    """`classes(body)`: the classes of the kernel's stores in order, as letters."""

    def run(body: str, **parts: str) -> str:
        return "".join(str(c.store_class) for c in report(body, **parts).stores)

    return run


@pytest.fixture
def codes(report: Callable[..., LaneReport]) -> Callable[..., set[str]]:
    """`codes(body)`: every reason of the lane report against merging tiles."""

    def run(body: str, **parts: object) -> set[str]:
        return {r.code for r in report(body, **parts).refusals}

    return run


@pytest.fixture
def assert_rewrite() -> Callable[..., str]:
    """`assert_rewrite(primitive, before, golden)`: the file rewritten is the golden file of that name.

    With `refusal=(code, line text)` the primitive must refuse with that code at a line holding that text. `before` is
    a path or source text. UPDATE_GOLDEN in the environment writes the golden file instead; review it as a diff.
    """

    def check(
        primitive: str,
        before: Path | str,
        golden: str = "",
        refusal: tuple[str, str] | None = None,
        **arguments: object,
    ) -> str:
        text = before.read_bytes().decode() if isinstance(before, Path) else before
        module = load_module(text, str(before) if isinstance(before, Path) else "case.py")
        (kernel,) = module.entry_kernels
        if refusal is not None:
            with pytest.raises(Refuse) as caught:
                PRIMITIVES[primitive](module, kernel, **arguments)  # type: ignore[arg-type]
            reasons = {r.code: r for r in caught.value.refusals}
            assert refusal[0] in reasons, reasons
            lines = [text.splitlines()[n - 1] for n in reasons[refusal[0]].lines]
            assert any(refusal[1] in line for line in lines), lines
            return text
        after = apply_edits(text, PRIMITIVES[primitive](module, kernel, **arguments))  # type: ignore[arg-type]
        ast.parse(after)
        if golden:
            path = GOLDEN / primitive / golden
            if os.environ.get("UPDATE_GOLDEN"):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(after.encode())
            assert after == path.read_bytes().decode()
        return after

    return check
