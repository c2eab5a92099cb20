"""elide_masks: which masks are always true when a tile divides, and which are not."""

from collections.abc import Callable

import pytest

KERNEL = """import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, D{annotation}, BD: tl.constexpr):
    o = tl.arange(0, BD)
    {body}


def run(x, D):
    kernel[(4,)](x, x.new_empty(9), 3, {given}, BD=16)
"""


def text(*body: str, constexpr: bool = True, given: str = "D") -> str:
    annotation = ": tl.constexpr" if constexpr else ""
    body_text = "\n    ".join(("i = tl.program_id(0)", *body))
    return KERNEL.format(body=body_text, annotation=annotation, given=given)


def loop(mask: str, head: str = "for s in range(0, D, BD):") -> list[str]:
    return [head, f"    b = tl.load(x + o, mask={mask})", "    tl.store(y + o, b)"]


PROVED = ["if D % BD == 0:", "b = tl.load(x + o)", "else:"]
COUNT = "for k in range(tl.cdiv(D, BD)):"


@pytest.mark.parametrize(
    ("mask", "head"),
    [
        ("s + o < D", "for s in range(0, D, BD):"),
        ("D > o + s", "for s in tl.range(0, D, BD):"),
        ("o < D - s", "for s in range(0, D, BD):"),
        ("o < D - k * BD", COUNT),
        ("BD * k + o < D", "for k in range(0, tl.cdiv(D, BD)):"),
    ],
)
def test_tails_of_loops(rewrite: Callable[..., list[str]], mask: str, head: str) -> None:
    assert rewrite("elide_masks", text(*loop(mask, head)))[:3] == PROVED


def test_a_single_tile_is_full(rewrite: Callable[..., list[str]]) -> None:
    after = rewrite("elide_masks", text(*loop("o < D", "for t in range(n):")))
    assert after == ["if D >= BD:", "b = tl.load(x + o)", "else:", "b = tl.load(x + o, mask=o < D)"]


def test_neighbours_share_a_branch(rewrite: Callable[..., list[str]]) -> None:
    body = ["for s in range(0, D, BD):", "    a = tl.load(x + o, mask=s + o < D, other=0.0)"]
    body += ["    b = tl.load(y + o, mask=(o < n) & (s + o < D), other=0.0)", "    tl.store(y + o, a + b)"]
    assert rewrite("elide_masks", text(*body))[:4] == [
        "if D % BD == 0:",
        "a = tl.load(x + o)",
        "b = tl.load(y + o, mask=o < n, other=0.0)",
        "else:",
    ]


def test_a_runtime_dimension_is_told_by_the_launch(rewrite: Callable[..., list[str]]) -> None:
    after = rewrite("elide_masks", text(*loop("s + o < D"), constexpr=False))
    assert after == [
        "def kernel(x, y, n, D, BD: tl.constexpr, EVEN_D: tl.constexpr):",
        "if EVEN_D:",
        "b = tl.load(x + o)",
        "else:",
        "b = tl.load(x + o, mask=s + o < D)",
        "kernel[(4,)](x, x.new_empty(9), 3, D, BD=16, EVEN_D=D % 16 == 0)",
    ]


@pytest.mark.parametrize(
    "body",
    [
        loop("s + o < n"),
        loop("s + o <= D"),
        loop("s + o < D + 1"),
        loop("s + o < D", "for s in range(0, n, BD):"),
        loop("s + o < D", "for s in range(1, D, BD):"),
        loop("s + o < D", "for s in range(0, D, 8):"),
        loop("s + o + 1 < D"),
        loop("o < D - k * 8", COUNT),
        loop("o < D - k * BD", "for k in range(n):"),
        loop("o < D - k * BD", "for k in range(tl.cdiv(D, 8)):"),
        loop("(s + o < D) | (o < n)"),
        loop("i * BD + o < D", "for t in range(n):"),
        loop("o + o < D", "for t in range(n):"),
        ["o = o + 1", *loop("o < D", "for t in range(n):")],
        [*loop("o < D", "for t in range(n):"), "    o += BD"],
        ["for s in range(0, D, BD):", "    s += 1", *loop("s + o < D")[1:]],
    ],
)
def test_what_is_not_proved(refusal: Callable[..., object], body: list[str]) -> None:
    assert refusal("elide_masks", text(*body)).code == "mask_not_proved"  # type: ignore[attr-defined]


def test_a_launch_may_give_a_size(rewrite: Callable[..., list[str]]) -> None:
    for given, test in (("x.shape[0]", "x.shape[0] % "), ("2 * n", "(2 * n) % ")):
        lines = rewrite("elide_masks", text(*loop("s + o < D"), constexpr=False, given=given))
        assert any(f"EVEN_D={test}" in line for line in lines), lines


def test_launches_that_do_not_say(refusal: Callable[..., object]) -> None:
    body = text(*loop("s + o < D"), constexpr=False, given="read(x)")
    assert refusal("elide_masks", body).code == "unreadable_launch"  # type: ignore[attr-defined]
    body = text(*loop("s + o < D"), constexpr=False).split("\n\n\ndef run")[0]
    assert refusal("elide_masks", body).code == "no_launch_site"  # type: ignore[attr-defined]


def test_masks_outside_of_loops_are_cold(refusal: Callable[..., object]) -> None:
    found = refusal("elide_masks", text("b = tl.load(x + o, mask=o < D)"))
    assert found.code == "pattern_not_found"  # type: ignore[attr-defined]
