"""One Triton file: techniques, resources, conditions, and what vendored copies share."""

from __future__ import annotations

import ast

from skel.miner.code.digest import digest
from skel.miner.code.model import MinedFile, MinedKernel
from skel.miner.code.python_file import mine_python

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"
KERNEL = """
@triton.autotune(
    configs=[triton.Config({"BD": bd}, num_warps=w, num_stages=s) for bd in [32, 64] for w in (1, 2) for s in [2, 3]],
    key=["D"],
    prune_configs_by={"early_config_prune": prune},
)
@triton.heuristics({"HAS_B": lambda args: args["b"] is not None})
@triton.jit(do_not_specialize=["T"])
def scale(x, y, b, T, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr, HAS_B: tl.constexpr):
    # 128 registers a thread at most
    tl.static_assert(BT <= 64)
    i_t, i_d = tl.program_id(0), tl.program_id(1)
    o_t = i_t * BT + tl.arange(0, BT)
    o_d = i_d * BD + tl.arange(0, BD)
    m = (o_t[:, None] < T) & (o_d[None, :] < D)
    b_x = tl.load(x + o_t[:, None] * D + o_d[None, :], mask=m, other=0.0)
    b_x = b_x / tl.sqrt(tl.sum(b_x * b_x, 1) + 1e-6)[:, None]
    tl.store(y + o_t[:, None] * D + o_d[None, :], b_x, mask=m)


def pick(T):
    # measured on H100: 1.3x for short sequences
    if T <= 64:
        return 16
    return 64


def launch(x, y, b):
    T, D = x.shape
    assert x.is_contiguous()
    if D > 4096:
        raise ValueError("too wide")
    BT = pick(T)
    if D >= 1024:
        BT = 32
    grid = lambda meta: (triton.cdiv(T, BT), triton.cdiv(D, meta["BD"]))
    scale[grid](x, y, b, T, D, BT=BT, num_warps=4)
"""


def mined(text: str, path: str = "pkg/a.py") -> MinedFile:
    return mine_python((HEAD + text).encode(), path, path)


def only(text: str) -> MinedKernel:
    file = mined(text)
    assert file.not_read is None and file.faults == ()
    (kernel,) = file.kernels
    return kernel


def test_uses_and_opportunities_are_told_apart() -> None:
    found = {(o.technique, o.role): o for o in only(KERNEL).occurrences}
    assert ("relax_specialization", "uses") in found
    could = found["div_to_reciprocal", "could_use"]
    assert could.applicable is True and could.refusals == ()
    assert (HEAD + KERNEL).splitlines()[could.line - 1].strip().startswith("b_x = b_x / tl.sqrt")


def test_resources_are_read_from_configurations_and_launches() -> None:
    about = only(KERNEL).resources
    assert about["autotune"]["configurations"] == 8
    assert about["autotune"]["values"] == {"BD": [32, 64], "num_stages": [2, 3], "num_warps": [1, 2]}
    assert about["autotune"]["key"] == ["D"] and about["heuristics"] == ["HAS_B"]
    assert set(about["tiles"]) == {"BT", "BD"}
    (launch,) = about["launches"]
    assert launch["function"] == "launch" and launch["num_warps"] == 4
    assert about["operations"] == {"load": 1, "store": 1}


def test_conditions_come_from_the_kernel_its_decorators_and_its_launcher() -> None:
    said = {(c.kind, c.text) for c in only(KERNEL).conditions}
    assert ("assert", "BT <= 64") in said and ("assert", "x.is_contiguous()") in said
    assert ("guard", "raises if D > 4096") in said
    assert ("dispatch", "if D >= 1024: BT = 32") in said and ("dispatch", "if T <= 64: return 16") in said
    assert ("comment", "128 registers a thread at most") in said
    assert ("comment", "measured on H100: 1.3x for short sequences") in said
    assert any(kind == "heuristic" and text.startswith("HAS_B:") for kind, text in said)
    assert any(kind == "prune" and "early_config_prune" in text for kind, text in said)


def test_configurations_that_are_computed_are_not_guessed() -> None:
    text = KERNEL.replace("for bd in [32, 64]", "for bd in sizes()")
    assert only(text).resources["autotune"]["configurations"] is None


def function(text: str) -> ast.FunctionDef:
    (node,) = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef))
    return node


def test_vendored_copies_share_a_digest_and_changed_ones_do_not() -> None:
    original = function(
        "@jit\ndef f(x, n: tl.constexpr):\n    '''doc'''\n    a = tl.load(x + n)  # one\n    return a * 2\n"
    )
    copy = function("def g(p, size: tl.constexpr):\n    value = tl.load(\n        p + size)\n    return value * 2\n")
    assert digest(original) == digest(copy)
    for other in ("a * 3", "a + 2", "x * 2", "tl.exp(a) * 2"):
        changed = f"def f(x, n: tl.constexpr):\n    a = tl.load(x + n)\n    return {other}\n"
        assert digest(function(changed)) != digest(original)
    assert digest(function("def f(x, n):\n    a = tl.load(x + n)\n    return a * 2\n")) != digest(original)


def test_a_loaded_index_is_no_certain_overflow_and_a_program_id_is() -> None:
    text = """
@triton.jit
def rows(x, y, idx, stride, N, BN: tl.constexpr):
    pid = tl.program_id(0)
    o = tl.arange(0, BN)
    row = {}
    tl.store(y + o, tl.load(x + row * stride + o, mask=o < N), mask=o < N)
"""
    assert "int64_offsets" in {o.technique for o in only(text.format("pid")).occurrences}
    loaded = text.format("tl.load(idx + pid)")
    assert "int64_offsets" not in {o.technique for o in only(loaded).occurrences}


def test_what_cannot_be_read_says_why() -> None:
    assert "UTF-8" in (mine_python(b"import triton\n\xff", "a.py", "a.py").not_read or "")
    assert mine_python(b"import triton\ndef (:", "a.py", "a.py").not_read
    assert mine_python(b"import triton\nx = 1\n", "a.py", "a.py").kernels == ()
    assert mine_python(b"\xef\xbb\xbfimport triton\n", "a.py", "a.py").not_read is None
