"""defer_state_load: both forms, and when the load has to stay."""

from collections.abc import Callable

import pytest

KERNEL = """def kernel(x, h, y, N, FLAG: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0)
    o = i * D + tl.arange(0, D)
    {}
"""
ZEROS = "b = tl.zeros([D], dtype=tl.float32)"
ADD = "b += tl.load(h + o).to(tl.float32)"
LOOP = ["for t in range(N):", "    b = b * 0.5 + tl.load(x + t * D + o)"]
END = "tl.store(y + o, b)"


def kernel(*body: str) -> str:
    return KERNEL.format("\n    ".join(body))


def test_direct(rewrite: Callable[..., list[str]]) -> None:
    assert rewrite("defer_state_load", kernel(ZEROS, ADD, *LOOP, END)) == ["b = tl.load(h + o).to(tl.float32)"]


BOTH = ["if FLAG:", f"    {ZEROS}", "    m = o < N", "else:", f"    {ZEROS}", "    m = o < D"]
MASKED = "b += tl.load(h + o, mask=m, other=0.0).to(tl.float32)"


def test_zeros_in_both_arms_of_a_branch(rewrite: Callable[..., list[str]], refusal: Callable[..., object]) -> None:
    assert rewrite("defer_state_load", kernel(*BOTH, MASKED, *LOOP, END)) == [MASKED.replace("+=", "=")]
    first = rewrite("defer_state_load", kernel(*BOTH, MASKED, *LOOP, END), form="first_round")
    assert first == ["if N <= 0:", MASKED, "if t == 0:", MASKED]
    for line, other in ((1, "    b = tl.full([D], 1.0, dtype=tl.float32)"), (4, "    b = tl.load(x + o)")):
        arms = [*BOTH[:line], other, *BOTH[line + 1 :]]
        assert refusal("defer_state_load", kernel(*arms, MASKED, *LOOP, END)).code == "state_not_zero"  # type: ignore[attr-defined]
    one = ["b = tl.full([D], 1.0, dtype=tl.float32)", "if FLAG:", f"    {ZEROS}"]
    for form in ("direct", "first_round"):
        found = refusal("defer_state_load", kernel(*one, ADD, *LOOP, END), form=form)
        assert found.code == "state_not_zero"  # type: ignore[attr-defined]


def test_zeros_of_another_shape_in_each_arm(rewrite: Callable[..., list[str]], refusal: Callable[..., object]) -> None:
    """The state's axes by a flag, as in FLA: each arm has the shape of the load that follows it."""
    flat, turned = "b = tl.zeros([D, 16], dtype=tl.float32)", "b = tl.zeros([16, D], dtype=tl.float32)"
    place = [
        "    p = o[:, None] * 16 + tl.arange(0, 16)[None, :]",
        "    p = o[None, :] + D * tl.arange(0, 16)[:, None]",
    ]
    load = "b += tl.load(h + p).to(tl.float32)"
    arms = ["if FLAG:", f"    {flat}", place[0], "else:", f"    {turned}", place[1], load]
    loop = ["for t in range(N):", "    b = b * 0.5", "tl.store(y + p, b)"]
    assert rewrite("defer_state_load", kernel(*arms, *loop)) == [load.replace("+=", "=")]
    wrong = [*arms[:4], f"    {flat.replace('[D, 16]', '[1, D]')}", *arms[5:]]
    assert refusal("defer_state_load", kernel(*wrong, *loop)).code == "state_not_zero"  # type: ignore[attr-defined]


def test_first_round(rewrite: Callable[..., list[str]]) -> None:
    loop = ["for t in range(2, N + 1):", LOOP[1]]
    after = rewrite("defer_state_load", kernel(ZEROS, ADD, *loop, END), form="first_round")
    assert after == ["if N + 1 <= 2:", ADD, "if t == 2:", ADD]


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        ([ZEROS, *LOOP, END], "pattern_not_found", 6),
        ([ZEROS, ADD, END], "pattern_not_found", 6),
        ([ZEROS, ADD, "for t in tl.static_range(4):", LOOP[1], END], "pattern_not_found", 6),
        ([ZEROS, ADD.replace("+=", "-="), *LOOP, END], "pattern_not_found", 6),
        (["b = tl.full([D], 1.0, dtype=tl.float32)", ADD, *LOOP, END], "state_not_zero", 10),
        ([ZEROS, "b += 1.0", ADD, *LOOP, END], "state_not_zero", 11),
        ([ZEROS, "if N > 3:", "    b = b + i", ADD, *LOOP, END], "state_not_zero", 12),
        ([ZEROS.replace("[D]", "[D, D]"), ADD, *LOOP, END], "state_not_zero", 10),
        ([ZEROS.replace("float32", "float16"), ADD, *LOOP, END], "state_not_zero", 10),
        ([ZEROS, ADD.removesuffix(".to(tl.float32)"), *LOOP, END], "state_not_zero", 10),
        ([ZEROS, "if i < N:", "    return", "while i > 4:", "    break"], "unknown_construct", 13),
    ],
)
def test_direct_refuses(refusal: Callable[..., object], body: list[str], code: str, line: int) -> None:
    found = refusal("defer_state_load", kernel(*body))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "body",
    [
        [ZEROS, ADD, "tl.store(y + o, o)", *LOOP, END],
        [ZEROS, ADD, "c = b * 2.0", *LOOP, END],
        [ZEROS, ADD, "for t in range(0, N, 2):", LOOP[1], END],
        [ZEROS, ADD, "while i < N:", "    i += 1", "    b = b * 0.5", END],
        [ZEROS, ADD, *LOOP, "    o += D", END],
        [ZEROS, ADD, "o += 1", *LOOP, END],
        [ZEROS, "if i < N:", "    " + ADD, *LOOP, END],
        [ZEROS, "if FLAG:", "    c = o", "else:", "    " + ADD, *LOOP, END],
        [ZEROS, ADD, "if FLAG:", *("    " + line for line in LOOP), "tl.store(x + o, b)"],
    ],
)
def test_first_round_refuses(refusal: Callable[..., object], body: list[str]) -> None:
    assert refusal("defer_state_load", kernel(*body), form="first_round").code == "loop_not_first"  # type: ignore[attr-defined]


def test_a_constexpr_guard_is_not_taken_for_a_flag(
    rewrite: Callable[..., list[str]], refusal: Callable[..., object]
) -> None:
    body = kernel(ZEROS, ADD, "for t in range(D):", LOOP[1], END)
    assert rewrite("defer_state_load", body, form="first_round") == ["if D <= 0:", ADD, "if t == 0:", ADD]
    guarded = [ZEROS, "if D <= 0:", "    " + ADD, "for t in range(D):", "    if t == 0:", "        " + ADD]
    again = kernel(*guarded, LOOP[1], END)
    assert refusal("defer_state_load", again, form="first_round").code == "loop_not_first"  # type: ignore[attr-defined]


def test_an_unknown_form(refusal: Callable[..., object]) -> None:
    assert refusal("defer_state_load", kernel(ZEROS, ADD, *LOOP), form="x").code == "bad_setting"  # type: ignore[attr-defined]
