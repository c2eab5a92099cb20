"""lanes: the classes of stores along a tiled axis, for people and as JSON."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Skel

KERNEL = """import triton
import triton.language as tl


@triton.jit
def rows(x, y, total, n, V, BV: tl.constexpr):
    i_v = tl.program_id(0)
    i_n = tl.program_id(1)
    o_v = i_v * BV + tl.arange(0, BV)
    b_x = tl.load(x + i_n * V + o_v, mask=o_v < V, other=0.0)
    tl.store(y + i_n * V + o_v, b_x, mask=o_v < V)
    tl.store(total + i_n, {value})
"""


def test_the_classes_and_the_totals(skel: Skel) -> None:
    Path("whole.py").write_text(KERNEL.format(value="n"))
    Path("partial.py").write_text(KERNEL.format(value="tl.sum(b_x)"))
    document = skel("lanes", "whole.py", "partial.py", "--json").document
    assert [(e["file"], e["axis"], e["tiles"], e["verdict"]) for e in document["axes"]] == [
        ("whole.py", "i_v", ["BV"], "separable"),
        ("partial.py", "i_v", ["BV"], "nonlinear_partials"),
    ]
    assert document["axes"][0]["stores"] == {"L": 1, "I": 1}
    assert document["totals"]["separable"] == document["totals"]["nonlinear_partials"] == 1
    out = skel("lanes", "partial.py").out
    assert "partial.py:6 rows i_v (BV): nonlinear_partials [L1 R1]" in out and "reduction_over_tile_axis, line" in out


def test_one_axis_and_what_cannot_be_read(skel: Skel) -> None:
    Path("a.py").write_text(KERNEL.format(value="n"))
    Path("b.py").write_text("import triton (\n")
    document = skel("lanes", ".", "--axis", "i_k", "--json").document
    assert document["axes"] == [] and [entry["file"] for entry in document["not_read"]] == ["b.py"]
    assert skel("lanes", "none.py").status == 2
