"""scan of one file: kernels, applicability, hazards, other languages; faults of ours end nothing."""

from __future__ import annotations

import pytest

from skel.rewriter.detectors import DETECTORS
from skel.rewriter.detectors.base import Detector
from skel.rewriter.engine import scan
from skel.rewriter.engine.dry import ATTEMPTS
from skel.rewriter.engine.registry import PRIMITIVES

FILE = '''import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x / tl.sqrt(tl.sum(x * x) + 1e-6)


@triton.jit
def decode(X):
    pid = tl.program_id(0)
    return pid % X, pid // X


@triton.jit
def kernel(x, y, total, n, D: tl.constexpr, V, BD: tl.constexpr, BV: tl.constexpr):
    i_v = tl.program_id(0)
    row = tl.program_id(0) * D
    o_d = tl.arange(0, BD)
    o_v = i_v * BV + tl.arange(0, BV)
    b_d = tl.load(x + o_d + row, mask=o_d < D, other=0.0)
    b_x = tl.load(x + o_v, mask=o_v < V, other=0.0)
    tl.store(y + o_v, helper(b_x), mask=o_v < V)
    tl.store(total, n)
    tl.store(y + o_v + V, b_x)


@triton.jit
def started(x, X: tl.constexpr):
    i, j = decode(X)
    tl.store(x + i * X + j, 1)
'''


def test_kernels_are_what_is_started() -> None:
    result = scan(FILE, "file.py")
    assert [k.kernel for k in result.kernels] == ["kernel", "started"] and not result.faults


def test_hazards_have_their_lines() -> None:
    found = {(f.code, f.place.line) for f in scan(FILE, "file.py").findings}
    assert {("offset_may_overflow", 19), ("same_value_store", 25), ("unmasked_access", 26)} <= found
    assert any(code == "tile_dependence" for code, _ in found)


def test_an_opportunity_says_whether_it_applies() -> None:
    (found,) = [o for o in scan(FILE, "file.py").kernels[0].opportunities if o.skeleton == "int64_offsets"]
    assert found.applicable is True and found.refusals == ()
    (in_helper,) = [o for o in scan(FILE, "file.py").kernels[0].opportunities if o.skeleton == "div_to_reciprocal"]
    assert in_helper.applicable is False and in_helper.refusals


def test_a_refusal_is_told() -> None:
    text = FILE.replace("    b_d = tl.load(x + o_d + row, mask=o_d < D, other=0.0)\n",
                        "    b_d = tl.load(x + o_d, mask=o_d < D, other=0.0)\n    norm = tl.sum(b_d * b_d)\n")
    (found,) = [o for o in scan(text, "file.py").kernels[0].opportunities if o.skeleton == "fuse_vtiles"]
    assert found.applicable is False and found.refusals[0].code == "no_launch_site"


def test_a_file_that_is_no_python() -> None:
    result = scan("def f(:\n", "bad.py")
    assert result.not_read is not None and result.kernels == ()


def test_a_fault_of_ours_is_noted_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(view: object) -> list[object]:
        raise ZeroDivisionError

    monkeypatch.setitem(DETECTORS, "replay_ring", Detector("replay_ring", broken))  # type: ignore[arg-type]
    result = scan(FILE, "file.py")
    assert len(result.kernels) == 2
    assert {f.doing for f in result.faults} == {"looking for replay_ring"}


def test_other_languages_are_counted() -> None:
    text = ("import cutlass.cute as cute\nimport helion\nfrom triton.experimental import gluon\n"
            "@cute.kernel\ndef a(): ...\n@cute.jit\ndef b(): ...\n@helion.kernel()\ndef c(): ...\n"
            "def make():\n    import tilelang.language as T\n    @T.prim_func\n    def d(): ...\n"
            "@gluon.jit\ndef e(): ...\n@gluon.jit\ndef f(): ...\n")
    assert scan(text, "file.py").other_languages == {"CuTe": 1, "Gluon": 2, "Helion": 1, "TileLang": 1}


def test_every_attempt_names_a_primitive() -> None:
    for attempts in ATTEMPTS.values():
        for name, arguments in attempts:
            assert name in PRIMITIVES and set(arguments) <= set(PRIMITIVES[name].arguments) | {"merge"}


def test_every_hazard_says_when_it_fails() -> None:
    found = scan(FILE, "file.py").findings
    assert found and all(f.data["fails_when"] for f in found)
    overflow = [f for f in found if f.code == "offset_may_overflow"]
    assert all(" * " in f.data["fails_when"] and f.data["fails_when"].endswith(">= 2**31") for f in overflow)
