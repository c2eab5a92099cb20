"""widen_autotune: which warps are added where, which sizes join the key, and what must not be tuned further."""

from collections.abc import Callable

import pytest

FILE = """import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({'BN': 16}, num_warps=w) for w in [4]], key=['N'])
@triton.jit
def rows_kernel(x, y, N, D: tl.constexpr, BN: tl.constexpr, FLAG: tl.constexpr):
    o = tl.program_id(0) * BN + tl.arange(0, BN)
    tl.store(y + o * D, tl.load(x + o * D, mask=o < N), mask=o < N)


def rows(x, y, N):
    rows_kernel[lambda m: (triton.cdiv(N, m['BN']),)](x, y, N, D=2, FLAG=True)
"""
LIST = "[triton.Config({'BN': 16}, num_warps=w) for w in [4]]"


def changed(*pairs: tuple[str, str]) -> str:
    text = FILE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("configs", "after"),
    [
        (LIST, "[triton.Config({'BN': 16}, num_warps=w) for w in [4, 2, 8]]"),
        (LIST.replace("[4]", "(2, 4)"), "[triton.Config({'BN': 16}, num_warps=w) for w in (2, 4, 8)]"),
        (LIST.replace("[4]", "[2, 8]"), LIST.replace("[4]", "[2, 8]")),
        (
            "[triton.Config({'BN': 16})]",
            "[triton.Config({'BN': 16}), triton.Config({'BN': 16}, num_warps=2), "
            "triton.Config({'BN': 16}, num_warps=8)]",
        ),
        (
            "[triton.Config({'BN': 16}, num_warps=8, num_stages=3)]",
            "[triton.Config({'BN': 16}, num_warps=8, num_stages=3), "
            "triton.Config({'BN': 16}, num_warps=2, num_stages=3), "
            "triton.Config({'BN': 16}, num_warps=4, num_stages=3)]",
        ),
    ],
)
def test_warps(rewrite: Callable[..., list[str]], configs: str, after: str) -> None:
    lines = rewrite("widen_autotune", changed((LIST, configs)))
    assert lines == [f"@triton.autotune(configs={after}, key=['N', 'D'])"]


def test_a_decorator_that_restores_what_is_changed(rewrite: Callable[..., list[str]]) -> None:
    text = changed(("tl.load(x", "tl.load(y"), ("key=['N']", "key=['N'], restore_value=['y']"))
    assert "[4, 2, 8]" in rewrite("widen_autotune", text)[0]


def test_a_kernel_that_cannot_run_twice_still_gets_its_key(rewrite: Callable[..., list[str]]) -> None:
    text = changed(("tl.load(x", "tl.load(y"), ("[4]", "[2, 8]"))
    assert rewrite("widen_autotune", text)[0].endswith("key=['N', 'D'])")


REFUSALS = {
    "no autotuner": ([(f"@triton.autotune(configs={LIST}, key=['N'])\n", "")], "no_autotuner", 6),
    "a shared list": ([(f"configs={LIST}", "configs=CONFIGS")], "autotune_not_listed", 5),
    "a filtered list": ([("in [4]]", "in [4] if w > 2]")], "autotune_not_listed", 5),
    "unknown warps": ([(LIST, "[triton.Config({'BN': 16}, num_warps=WARPS)]")], "autotune_not_listed", 5),
    "a key from elsewhere": ([("key=['N']", "key=KEY")], "autotune_not_listed", 5),
    "all of it": ([("[4]", "[2, 4, 8]"), ("key=['N']", "key=['N', 'D']")], "autotune_wide_enough", 5),
    "in place": ([("tl.load(x", "tl.load(y")], "inplace_not_separated", 9),
    "the same tensor": ([("(x, y, N, D=2", "(x, x, N, D=2")], "inplace_not_separated", 9),
    "an atomic": ([("tl.store(y", "tl.atomic_add(y")], "inplace_not_separated", 9),
}


@pytest.mark.parametrize(("pairs", "code", "line"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(refusal: Callable[..., object], pairs: list[tuple[str, str]], code: str, line: int) -> None:
    found = refusal("widen_autotune", changed(*pairs))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]


@pytest.mark.parametrize("tuning", ["reset_to_zero=['y']", "pre_hook=None", "restore_value=['x']"])
def test_one_configuration_was_never_tuned(refusal: Callable[..., object], tuning: str) -> None:
    """What tuning sets to zero, or changes by a hook, a single configuration left alone."""
    text = changed(("tl.load(x", "tl.load(y"), ("key=['N']", f"key=['N'], {tuning}"))
    assert refusal("widen_autotune", text).code == "inplace_not_separated"  # type: ignore[attr-defined]
