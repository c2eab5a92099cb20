"""cache_hints: what is streamed, what is read again, and what is left alone."""

from collections.abc import Callable

import pytest

KERNEL = """def kernel(x, g, y, N, D: tl.constexpr):
    i = tl.program_id(0)
    o = i * D + tl.arange(0, D)
    s = tl.zeros([D], dtype=tl.float32)
    {}
    tl.store(y + o, s)
"""
FIRST = 'eviction_policy="evict_first"'
LAST = 'eviction_policy="evict_last"'
PASS = ["for j in range(N):", "    s += tl.load(x + j * D + o)"]
NEXT = ["for j in range(N):", "    s *= tl.load(x + j * D + o)"]


def kernel(*body: str) -> str:
    return KERNEL.format("\n    ".join(body))


@pytest.mark.parametrize(
    ("policy", "hints"), [("stream", [None, FIRST]), ("keep", [LAST, None]), ("both", [LAST, FIRST])]
)
def test_policies(rewrite: Callable[..., list[str]], policy: str, hints: list[str | None]) -> None:
    lines = rewrite("cache_hints", kernel(*PASS, *NEXT), policy=policy)
    expected = [f"s {op}= tl.load(x + j * D + o, {h})" for op, h in zip("+*", hints, strict=True) if h]
    assert lines == expected


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        (["s += i"], "pattern_not_found", 6),
        (["s += tl.load(x + tl.arange(0, D))"], "pattern_not_found", 6),
        (["for j in range(N):", "    s += tl.load(x + o)"], "pattern_not_found", 6),
        (["s += tl.load(x + i)"], "pattern_not_found", 6),
        (["s += tl.load(y + o)"], "pattern_not_found", 6),
        (["s += tl.load(x + o, volatile=True)"], "pattern_not_found", 6),
        (["s += tl.load(x + o, eviction_policy='evict_last')"], "already_applied", 10),
        (["s += tl.load(x + o, cache_modifier='.ca')"], "already_applied", 10),
        ([*PASS, "for j in range(N + 1):", "    s *= tl.load(x + j * D + o)"], "pattern_not_found", 6),
        ([*PASS, "if i > 3:", "    s *= tl.load(x + o)"], "pattern_not_found", 6),
        (["c = [j for j in range(2)]", "s += tl.load(x + o)"], "unknown_construct", 10),
    ],
)
def test_refusals(refusal: Callable[..., object], body: list[str], code: str, line: int) -> None:
    found = refusal("cache_hints", kernel(*body))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]


def test_an_unknown_policy(refusal: Callable[..., object]) -> None:
    assert refusal("cache_hints", kernel("s += tl.load(x + o)"), policy="all").code == "bad_setting"  # type: ignore[attr-defined]
