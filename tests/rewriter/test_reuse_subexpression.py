"""reuse_subexpression: what counts as the same, and what may have come between."""

from collections.abc import Callable

import pytest

KERNEL = """def kernel(x, y, z, n, N, FLAG: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0)
    o = tl.arange(0, D)
    {}
"""


def kernel(*body: str) -> str:
    return KERNEL.format("\n    ".join(body))


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (["a = tl.load(x + o)", "b = tl.load(x + o)", "tl.store(y + o, a + b)"], ["b = a"]),
        (
            ["a = tl.load(x + o)", "a = tl.load(x + o) + a", "tl.store(y + o, a)"],
            ["a = a + a"],
        ),
        (
            ["a = tl.load(x + o)", "a += 1", "b = tl.load(x + o)", "tl.store(y + o, a + b)"],
            ["b_x = tl.load(x + o)", "a = b_x", "b = b_x"],
        ),
        (
            ["if FLAG:", "    a = tl.load(x + o)", "b = o + 1", "if FLAG:", "    b = b * tl.load(x + o) + a"]
            + ["tl.store(y + o, b)"],
            ["b = b * a + a"],
        ),
        (["tl.store(y + o, tl.exp(tl.load(x + o)))", "tl.store(z + o, o)"], None),
        (
            ["a = tl.load(x + o)", "for j in range(N):", "    a += tl.exp(a) * tl.exp(a)", "tl.store(y + o, a)"],
            ["b_exp = tl.exp(a)", "a += b_exp * b_exp"],
        ),
    ],
)
def test_the_first_is_kept(
    rewrite: Callable[..., list[str]], refusal: Callable[..., object], body: list[str], after: list[str] | None
) -> None:
    if after is None:
        assert refusal("reuse_subexpression", kernel(*body)).code == "pattern_not_found"  # type: ignore[attr-defined]
    else:
        assert rewrite("reuse_subexpression", kernel(*body)) == after


A = "a = tl.load(x + o)"
B = "b = tl.load(x + o)"
END = "tl.store(z + o, a + b)"


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        ([A, "tl.store(y + o, a)", B, END], "store_between", 11),
        ([A, "tl.atomic_add(y + i, 1)", B, END], "store_between", 11),
        ([A, "tl.debug_barrier()", B, END], "store_between", 11),
        ([A, "tl.extra.cuda.gdc_wait()", B, END], "store_between", 11),
        ([A, "helper(y)", B, END], "store_between", 11),
        ([A, "for j in range(N):", "    " + B, "    tl.store(z + o, a + b)"], "store_between", 11),
        ([A, "b = a", "while tl.load(x + o) > 0:", "    b += 1", END], "pattern_not_found", 6),
        (["a = o", "b = o", "if i < n:", "    " + A, B, END], "may_not_have_run", 13),
        (["a = o", "b = o", "for j in range(N):", "    " + A, B, END], "may_not_have_run", 13),
        (["a = tl.load(x + o) if i < n else 0.0", B, END], "may_not_have_run", 10),
        (["b = o", "if FLAG:", "    " + A, "else:", "    a = tl.load(x + o)", END], "may_not_have_run", 13),
        ([A, "o += D", B, END], "pattern_not_found", 6),
        (
            [A, "for j in range(N):", "    a += tl.load(x + o)", "    o += D", "tl.store(z + o, a)"],
            "pattern_not_found",
            6,
        ),
        ([A, "b = tl.load(x + o, mask=o < n)", END], "pattern_not_found", 6),
        (["a = tl.load(x + o, volatile=True)", "b = tl.load(x + o, volatile=True)", END], "pattern_not_found", 6),
        (["a = tl.exp(tl.atomic_add(x, 1.0))", "b = tl.exp(tl.atomic_add(x, 1.0))", END], "pattern_not_found", 6),
    ],
)
def test_refusals(refusal: Callable[..., object], body: list[str], code: str, line: int) -> None:
    found = refusal("reuse_subexpression", kernel(*body))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]


def test_helpers_that_write_stand_between(rewrite: Callable[..., list[str]], refusal: Callable[..., object]) -> None:
    head = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef helper(p, v):\n    {}\n\n@triton.jit\n"
    body = kernel(A, "c = helper(y, a)", B, END)
    found = refusal("reuse_subexpression", head.format("tl.store(p, v)") + body)
    assert found.code == "store_between"  # type: ignore[attr-defined]
    assert rewrite("reuse_subexpression", head.format("return v + tl.load(p)") + body) == ["b = a"]
