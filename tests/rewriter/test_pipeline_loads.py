"""pipeline_loads: which loops may load ahead."""

from collections.abc import Callable

import pytest

KERNEL = """def kernel(x, y, z, n, N, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.zeros([BLOCK], dtype=tl.float32)
    {}
    tl.store(z + o, s)
"""
LOAD = "    s += tl.load(x + j * BLOCK + o)"


def kernel(*body: str) -> str:
    return KERNEL.format("\n    ".join(body))


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("for j in range(N):", "for j in tl.range(N, num_stages=4):"),
        ("for j in tl.range(0, N, 2):", "for j in tl.range(0, N, 2, num_stages=4):"),
        ("for j in range(n, N + n):", "for j in tl.range(n, N + n, num_stages=4):"),
    ],
)
def test_the_loop_asks_for_stages(rewrite: Callable[..., list[str]], head: str, after: str) -> None:
    assert rewrite("pipeline_loads", kernel(head, LOAD), stages=4) == [after]


@pytest.mark.parametrize(
    "body",
    [
        ["p = x + o", "for j in range(N):", "    s += tl.load(p)", "    p += BLOCK * n"],
        ["k = n", "for j in range(N):", "    s += tl.load(x + k * BLOCK + o)", "    k = k + tl.cdiv(N, 2)"],
        ["for j in range(N):", LOAD, "    tl.store(y + j * BLOCK + o, s)"],
        ["for j in range(N):", "    s += tl.load(x + tl.load(y + j) * BLOCK + o)"],
        ["for j in range(N):", "    if BLOCK > 4:", "    " + LOAD],
    ],
)
def test_what_may_be_carried_or_stored(rewrite: Callable[..., list[str]], body: list[str]) -> None:
    assert len(rewrite("pipeline_loads", kernel(*body))) == 1


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        (["for j in tl.static_range(4):", LOAD], "pattern_not_found", 6),
        (["for j in range(N):", "    s += j"], "pattern_not_found", 9),
        (["for j in range(N):", "    s += tl.load(x + j)"], "pattern_not_found", 9),
        (["for j in range(N):", "    if j < n:", "    " + LOAD], "pattern_not_found", 9),
        (["for j in tl.range(N, num_stages=2):", LOAD], "already_applied", 9),
        (["for j in range(N):", LOAD, "    tl.store(x + j * BLOCK + o, s)"], "loop_writes_what_it_loads", 11),
        (["for j in range(N):", LOAD, "    tl.atomic_add(y + o, s)"], "loop_writes_what_it_loads", 11),
        (["for j in range(N):", LOAD, "    tl.debug_barrier()"], "loop_writes_what_it_loads", 11),
        (["for j in range(N):", LOAD, "    helper(y)"], "loop_writes_what_it_loads", 11),
        (
            ["k = n", "for j in range(N):", "    s += tl.load(x + k * BLOCK + o)", "    k = tl.load(y + k)"],
            "loads_follow_carry",
            11,
        ),
        (
            ["for j in range(N):", "    s += tl.load(x + s.to(tl.int32) + o)"],
            "loads_follow_carry",
            10,
        ),
        (
            ["p = tl.make_block_ptr(x, (N,), (1,), (0,), (BLOCK,), (0,))", "for j in range(N):"]
            + ["    s += tl.load(p, boundary_check=(0,))", "    p = tl.advance(p, (BLOCK,))"],
            "unknown_construct",
            11,
        ),
        (["for j in range(N):", LOAD, "    if n > 3:", "        break"], "unknown_construct", 12),
    ],
)
def test_refusals(refusal: Callable[..., object], body: list[str], code: str, line: int) -> None:
    found = refusal("pipeline_loads", kernel(*body))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]


def test_stages_out_of_range(refusal: Callable[..., object]) -> None:
    assert refusal("pipeline_loads", kernel("for j in range(N):", LOAD), stages=9).code == "bad_setting"  # type: ignore[attr-defined]


LAUNCH = """

def run(x):
    kernel[(4,)]({}, 1, 8, BLOCK=16)
"""


def test_parameters_that_share_memory_count_as_one(
    rewrite: Callable[..., list[str]], refusal: Callable[..., object]
) -> None:
    body = kernel("for j in range(N):", LOAD, "    tl.store(y + j * BLOCK + o, s)")
    shared = refusal("pipeline_loads", body + LAUNCH.format("x, x, x.new_empty(9)"))
    assert shared.code == "loop_writes_what_it_loads"  # type: ignore[attr-defined]
    assert rewrite("pipeline_loads", body + LAUNCH.format("x, x.new_empty(9), x.new_empty(9)"))


@pytest.mark.parametrize(
    ("decorator", "options", "code"),
    [
        ("@triton.autotune(configs=[triton.Config({}, num_stages=2)], key=[])\n", "", "option_belongs_to_autotuner"),
        ("", ", num_stages=2", "already_applied"),
    ],
)
def test_stages_chosen_elsewhere_hold_for_products(
    rewrite: Callable[..., list[str]], refusal: Callable[..., object], decorator: str, options: str, code: str
) -> None:
    head = f"import triton\nimport triton.language as tl\n\n{decorator}@triton.jit\n"
    launch = LAUNCH.format("x, x.new_empty(9), x.new_empty(9)").replace("BLOCK=16", f"BLOCK=16{options}")
    dot = "    s += tl.sum(tl.dot(tl.load(x + j + o[:, None]), tl.load(y + j + o[None, :])), 0)"
    assert rewrite("pipeline_loads", head + kernel("for j in range(N):", LOAD) + launch)
    found = refusal("pipeline_loads", head + kernel("for j in range(N):", dot) + launch)
    assert found.code == code  # type: ignore[attr-defined]
