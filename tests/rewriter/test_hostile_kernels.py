"""Kernels written to break the local rewrites: each gave other results once; now it is refused, or right."""

from collections.abc import Callable

import pytest

from skel.rewriter.kernel.definition import choose_kernel, load_module
from skel.rewriter.reasons import Refuse

HEAD = """import torch
import triton
import triton.language as tl

{before}

@triton.jit
def kernel(x, y, z, R, N, K, scale, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)
    o = tl.arange(0, BN)
    p = x + i * N + o
    {body}


def run(x, y, z):
    R, N = x.shape
    kernel[(R,)](x, y, z, R, N, N, 0.7, BN=16, BK=8)
"""
END = "tl.store(y + i * N + o, a + b)"


def text(*body: str, before: str = "") -> str:
    return HEAD.format(body="\n    ".join(body), before=before)


BUMP = "@triton.jit\ndef bump(p):\n    return tl.atomic_add(p, 1.0)\n"
PLAIN = "@triton.jit\ndef touch(p):\n    return p\n\n\n@triton.jit\ndef other(p):\n    tl.atomic_add(p, 1.0)\n\n\n"


@pytest.mark.parametrize(
    "body",
    [
        ["a = tl.atomic_add(p, 1.0) + tl.load(p)", "b = tl.load(p)", END],
        ["a = bump(p) + tl.load(p)", "b = tl.load(p)", END],
        ["j = 0", "a = (j := j + 1) * tl.load(p + j)", "b = tl.load(p + j)", END],
        ["if tl.sum(tl.atomic_add(p, 1.0)) > tl.sum(tl.load(p)):", "    tl.store(y + o, tl.load(p))"],
    ],
)
def test_no_load_moves_before_what_its_statement_does_first(refusal: Callable[..., object], body: list[str]) -> None:
    found = refusal("reuse_subexpression", text(*body, before=BUMP))
    assert found.code == "pattern_not_found"  # type: ignore[attr-defined]


def test_an_expression_of_several_lines_keeps_its_brackets(rewrite: Callable[..., list[str]]) -> None:
    body = ["a = 3.0 + (tl.load(p)", "+ 2.0)", "b = a - (tl.load(p)", "+ 2.0)", END]
    after = rewrite("reuse_subexpression", text(*body))
    assert after == ["b_p = (tl.load(p)", "a = 3.0 + b_p", "b = a - b_p"]


@pytest.mark.parametrize(
    "again",
    ["touch = other", "for touch in (other,):\n    pass", "touch, _ = other, 1", "def set_it():\n    global touch\n"],
)
def test_a_helper_that_is_set_anew_may_write(refusal: Callable[..., object], again: str) -> None:
    body = ["a = tl.load(p)", "touch(p)", "b = tl.load(p)", END]
    found = refusal("reuse_subexpression", text(*body, before=PLAIN + again))
    assert found.code == "store_between"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "again",
    [
        "LOW -= 3.0",
        "for LOW in (-3.0,):\n    pass",
        "LOW, *_ = -3.0, 1",
        "print(LOW := -3.0)",
        "def set_it():\n    global LOW\n    LOW = -3.0",
        "from numbers_of_ours import LOW",
    ],
)
def test_a_constant_that_is_set_anew_is_not_read(refusal: Callable[..., object], again: str) -> None:
    body = ["b = tl.load(p)", "s = tl.where(o < 8, b * scale, LOW)", "tl.store(y + i * N + o, tl.exp(s))"]
    found = refusal("exp_to_exp2", text(*body, before="LOW = 0.0\n" + again))
    assert found.code == "exponent_not_scalable"  # type: ignore[attr-defined]


@pytest.mark.parametrize("factor", ["tl.load(z + i)", "tl.load(z + i).to(tl.float16)"])
def test_half_precision_takes_no_log2e(refusal: Callable[..., object], factor: str) -> None:
    """As a factor that is fp16 log2(e) costs 0.9 % of exp(9)."""
    body = ["b = tl.load(p).to(tl.float32)", f"c = {factor}", "tl.store(y + i * N + o, tl.exp(b * c))"]
    assert refusal("exp_to_exp2", text(*body)).code == "exponent_not_scalable"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "load",
    [
        "tl.load(x + i * N + o[:, None], mask=(k + tl.arange(0, BK) < K)[None, :], other=0.0)",
        "tl.load(x + o[:, None], mask=(o[:, None] < N) & (k + tl.arange(0, BK) < K)[None, :], other=0.0)",
    ],
)
def test_a_mask_that_gives_the_load_its_shape_stays(refusal: Callable[..., object], load: str) -> None:
    body = ["a = 0.0", "for k in range(0, K, BK):", f"    b = {load}", "    a += tl.sum(b)", "tl.store(y + i, a)"]
    assert refusal("elide_masks", text(*body)).code == "mask_not_proved"  # type: ignore[attr-defined]


@pytest.mark.parametrize("table", ['{"BK": lambda args: 16}', "CHOICES", "dict(BK=lambda args: 16)"])
def test_a_heuristic_overrides_what_the_launch_passes(refusal: Callable[..., object], table: str) -> None:
    load = "    b = tl.load(x + k + tl.arange(0, BK), mask=k + tl.arange(0, BK) < K, other=0.0)"
    body = ["a = 0.0", "for k in range(0, K, BK):", load, "    a += tl.sum(b)", "tl.store(y + i, a)"]
    source = text(*body).replace("@triton.jit", f"@triton.heuristics({table})\n@triton.jit")
    assert refusal("elide_masks", source).code == "unreadable_launch"  # type: ignore[attr-defined]


def test_a_decorator_may_launch_in_its_own_way(refusal: Callable[..., object]) -> None:
    load = "    b = tl.load(x + k + tl.arange(0, BK), mask=k + tl.arange(0, BK) < K, other=0.0)"
    body = ["a = 0.0", "for k in range(0, K, BK):", load, "    a += tl.sum(b)", "tl.store(y + i, a)"]
    source = text(*body).replace("@triton.jit", "@with_fewer_columns\n@triton.jit")
    assert refusal("elide_masks", source).code == "unreadable_launch"  # type: ignore[attr-defined]


HERE = "p = x + i * N + o"
CAST = "tl.store(y + tl.cast(i, tl.int64) * N + o, "


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("j = i * N + 70000", "(j * j // 97).to(tl.float32)"),
        ("j = i * N + o", "j.to(tl.float32, bitcast=True)"),
        ("j = tl.load(z) + i - 2", "(j // 3).to(tl.float32)"),
        ("j = tl.where(o > 3, i, 2000000000) * 2", "j.to(tl.float32)"),
        ("j = i * N + o", "j"),
    ],
)
def test_what_may_wrap_on_purpose_stays_narrow(rewrite: Callable[..., list[str]], setting: str, value: str) -> None:
    source = text(setting, f"tl.store(y + i * N + o, {value})").replace(f"    {HERE}\n", "")
    assert rewrite("widen_index", source) == [f"{CAST}{value})"]


ZEROS, ADD = "h = tl.zeros([BN], dtype=tl.float32)", "h += tl.load(p).to(tl.float32)"


@pytest.mark.parametrize(
    "loop",
    [
        ["for t in range(tl.load(z), N):", "    h = h * 0.5", "    tl.store(z, t + 1)"],
        ["for t in range(0, tl.atomic_add(z, 1)):", "    h = h * 0.5"],
        ["for t in range(0, (N := N + 1)):", "    h = h * 0.5"],
        ["for t in range(0, N): h = h * 0.5"],
    ],
)
def test_bounds_are_evaluated_once(refusal: Callable[..., object], loop: list[str]) -> None:
    source = text(ZEROS, ADD, *loop, "tl.store(y + o, h)")
    assert refusal("defer_state_load", source, form="first_round").code == "loop_not_first"  # type: ignore[attr-defined]


ROUND = ["    a += tl.load(q, boundary_check=(0,))", "    tl.store(z, t)", "    q = tl.advance(q, (2,))"]
MADE = "q = tl.make_block_ptr({}, ({},), (1,), (0,), (4,), (0,))"


@pytest.mark.parametrize(
    "body",
    [
        [MADE.format("x + tl.load(z)", "8"), "for t in range(3):", *ROUND],
        [MADE.format("x", "tl.load(z)"), "for t in range(3):", *ROUND],
        [MADE.format("x + tl.atomic_add(z, 1)", "8")],
        [
            "for t in tl.static_range(3):",
            "    s = t * 2",
            "    if t == 0:",
            "        " + MADE.format("x + s", "N - s"),
            "    else:",
            "        q = tl.advance(q, (4,))",
            ROUND[0],
        ],
        [
            MADE.format("x", "N"),
            "for t in range(3):",
            "    s = t * 2",
            "    if t == 0:",
            "        " + MADE.format("x + s", "N - s"),
            *ROUND,
        ],
    ],
)
def test_a_block_pointer_is_made_once(refusal: Callable[..., object], body: list[str]) -> None:
    source = text("a = tl.zeros([4], dtype=tl.float32)", *body, "tl.store(y + tl.arange(0, 4), a)")
    code = refusal("block_pointer_to_mask", source).code  # type: ignore[attr-defined]
    assert code == ("unknown_construct" if "static_range" in source else "block_pointer_escapes")


@pytest.mark.parametrize(
    "line",
    [
        "b = tl.load(p) + K",
        "b = (K + 1) * tl.load(p).to(tl.int8)",
        "b = tl.where(o < 3, tl.load(p), K)",
        "b = tl.maximum(tl.load(p), K)",
        "b = K * 2000000000 + K * 2000000000",
        "b = min(K, 3) * 1000000000 * 4",
        "b = tl.full([BN], 3, tl.int8); b += K",
    ],
)
def test_a_number_widens_what_a_constant_does_not(refusal: Callable[..., object], line: str) -> None:
    body = ["a = 0.0", "for t in range(K):", "    a += tl.load(x + t)", line, "tl.store(y + o, a + b)"]
    source = text(*body).replace("@triton.jit", '@triton.jit(do_not_specialize=["K"])')
    assert refusal("specialise_clone", source).code == "runtime_needed"  # type: ignore[attr-defined]


def test_a_volatile_load_may_wait_for_the_others(refusal: Callable[..., object]) -> None:
    body = ["a = tl.zeros([BN], tl.float32)", "for t in range(R):", "    f = tl.load(z + t, volatile=True)"]
    found = refusal("pipeline_loads", text(*body, "    a += tl.load(p + t) * f", "tl.store(y + o, a)"))
    assert found.code == "loop_writes_what_it_loads"  # type: ignore[attr-defined]


@pytest.mark.parametrize(("start", "proved"), [("K", False), ("i // K", True), ("i * BK", True)])
def test_only_sizes_are_taken_for_positive(
    refusal: Callable[..., object], rewrite: Callable[..., list[str]], start: str, proved: bool
) -> None:
    source = text(f"w = ({start} * BN + o) % N", "tl.store(y + o, tl.load(x + w))")
    if proved:
        assert any("multiple_of(w, BN)" in line for line in rewrite("alignment_hints", source))
    else:
        assert refusal("alignment_hints", source).code == "alignment_not_proved"  # type: ignore[attr-defined]


@pytest.mark.parametrize("own", ["LOW = -3.0", "def LOW():\n        pass", "for LOW in (-3.0,):\n        pass"])
def test_a_kernel_reads_the_function_around_it(own: str) -> None:
    body = "        tl.store(x, tl.exp(tl.load(x) + LOW))\n\n    return kernel\n"
    kernel = f"def make():\n    {own}\n\n    @triton.jit\n    def kernel(x):\n{body}"
    source = f"import triton\nimport triton.language as tl\n\nLOW = 0.0\n\n\n{kernel}"
    module = load_module(source, "k.py")
    with pytest.raises(Refuse) as caught:
        choose_kernel(module, "kernel")
    assert caught.value.refusal.code == "unknown_construct"
    assert choose_kernel(load_module(source.replace("LOW = 0.0", "HIGH = 0.0"), "k.py"), "kernel").name == "kernel"


@pytest.mark.parametrize(
    ("primitive", "body"),
    [
        (
            "reuse_subexpression",
            [
                "r = 0.0",
                "for t in tl.static_range(3):",
                "    if t > 0:",
                "        a = tl.load(x + j)",
                "        for s in tl.static_range(2):",
                "            r += tl.load(x + j) * a",
                "            j = s",
                "    j = t",
                "tl.store(y + i, r)",
            ],
        ),
        (
            "exp_to_exp2",
            [
                "s = tl.load(p) * scale",
                "for t in tl.static_range(2):",
                "    if t > 0:",
                "        s = tl.where(o < 8, s, LOW)",
                "        tl.store(y + i * N + o, tl.exp(s))",
                "    LOW = -3.0",
            ],
        ),
        (
            "div_to_reciprocal",
            [
                "for t in tl.static_range(2):",
                "    if t > 0:",
                "        tl.store(z + o, n)",
                "    n = tl.sqrt(tl.load(p))",
                "    tl.store(y + o, o / n)",
            ],
        ),
    ],
)
def test_a_name_of_the_round_before_is_not_followed(
    refusal: Callable[..., object], primitive: str, body: list[str]
) -> None:
    found = refusal(primitive, text(*body, before="LOW = 0.0\n"))
    assert found.code == "unknown_construct"  # type: ignore[attr-defined]
