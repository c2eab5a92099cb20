"""specialise_clone: which argument becomes a constant, and what a constant cannot do."""

from collections.abc import Callable

import pytest

FILE = """import triton
import triton.language as tl


@triton.jit
def helper(n):
    return n.to(tl.float32)


@triton.jit(do_not_specialize=["T"])
def steps_kernel(x, y, T, flag, VARLEN: tl.constexpr, D: tl.constexpr):
    i_n = tl.program_id(0)
    o = tl.arange(0, D)
    if VARLEN:
        b_t = tl.load(y + i_n).to(tl.int32)
        T = tl.load(y + i_n + 1).to(tl.int32) - b_t
    else:
        b_t = i_n * T
    b_h = tl.zeros([D], dtype=tl.float32)
    for t in range(0, T):
        b_h += tl.load(x + (b_t + t) * D + o)
        if flag and D > 4:
            b_h *= 2.0
    tl.store(y + o, b_h)


def steps(x, y, starts):
    for part in x:
        steps_kernel[(4,)](part, y, part.shape[0] + 1, 3, VARLEN=starts is not None, D=16)
"""
LOOP = "    for t in range(0, T):\n"


def changed(*pairs: tuple[str, str]) -> str:
    text = FILE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_the_copy_stands_above_and_the_launch_chooses(rewrite: Callable[..., list[str]]) -> None:
    assert rewrite("specialise_clone", FILE) == [
        "@triton.jit(do_not_specialize=[])",
        "def steps_t_1_kernel(x, y, T: tl.constexpr, flag, VARLEN: tl.constexpr, D: tl.constexpr):",
        "if (part.shape[0] + 1) == 1:",
        "steps_t_1_kernel[(4,)](part, y, part.shape[0] + 1, 3, VARLEN=starts is not None, D=16)",
        "else:",
        "steps_kernel[(4,)](part, y, part.shape[0] + 1, 3, VARLEN=starts is not None, D=16)",
    ]


def test_a_launch_of_just_that_value_takes_the_copy(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("specialise_clone", changed(("part.shape[0] + 1", "1")))
    assert lines[2:] == ["steps_t_1_kernel[(4,)](part, y, 1, 3, VARLEN=starts is not None, D=16)"]


def test_a_launch_of_another_value_stays(refusal: Callable[..., object]) -> None:
    found = refusal("specialise_clone", changed(("part.shape[0] + 1", "2")))
    assert found.code == "pattern_not_found"  # type: ignore[attr-defined]


def test_a_flag(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("specialise_clone", changed(("y, part.shape[0] + 1, 3", "y, 7, len(x)")), value=0)
    assert lines[0] == "def steps_flag_0_kernel(x, y, T, flag: tl.constexpr, VARLEN: tl.constexpr, D: tl.constexpr):"
    assert lines[1] == "if len(x) == 0:"


def test_a_launch_over_several_lines_keeps_its_form(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("specialise_clone", changed(("D=16)", "\n            D=16,  # lanes\n        )")))
    assert lines.count("D=16,  # lanes") == 2 and lines.count(")") == 2


def test_wide_numbers_are_fine_where_everything_else_is_wide(rewrite: Callable[..., list[str]]) -> None:
    text = changed(("T, flag", "T: tl.int64, flag"), ("tl.program_id(0)\n", "tl.program_id(0).to(tl.int64)\n"))
    assert "if (part.shape[0] + 1) == 1:" in rewrite("specialise_clone", text)


REFUSALS = {
    "a width": ([("T, flag", "T: tl.int64, flag")], "runtime_needed", 18),
    "a method": ([("i_n * T", "i_n * T.to(tl.int64)")], "runtime_needed", 18),
    "a method of a copy": (
        [("    b_h = tl.z", "    n = T * 2\n    n = n.to(tl.int64)\n    b_h = tl.z")],
        "runtime_needed",
        20,
    ),
    "a helper": ([("i_n * T", "i_n * helper(T)")], "runtime_needed", 18),
    "a helper by keyword": ([("i_n * T", "i_n * helper(n=T)")], "runtime_needed", 18),
    "a method of a comparison": ([("i_n * T", "i_n * (T > 3).to(tl.int32)")], "runtime_needed", 18),
    "a quotient": ([("i_n * T", "i_n / T")], "runtime_needed", 18),
    "a floor below zero": ([("i_n * T", "i_n * ((T - 9) // D)")], "runtime_needed", 18),
    "carried": ([("        if flag", "        T -= 1\n        if flag")], "runtime_needed", 20),
    "a copy carried": ([(LOOP, f"    n = T\n{LOOP}        n -= 1\n")], "runtime_needed", 21),
    "one arm of a run-time branch": ([(LOOP, f"    if i_n > 2:\n        T = 3\n{LOOP}")], "runtime_needed", 20),
    "an element": ([("(y + i_n)", "(y + (i_n, i_n)[T])")], "runtime_needed", 15),
    "known to Triton": ([('(do_not_specialize=["T"])', "")], "specialised_already", 11),
    "nothing to choose": (
        [("range(0, T)", "range(0, D)"), ("if flag and", "if t * flag > 0 and")],
        "pattern_not_found",
        11,
    ),
    "a break": (
        [("        if flag", "        if t > 3:\n            break\n        if flag")],
        "unknown_construct",
        23,
    ),
    "its result is kept": ([("        steps_kernel", "        done = steps_kernel")], "unreadable_launch", 29),
    "another name": (
        [("    for part", "    k = steps_kernel\n    for part"), ("steps_kernel[", "k[")],
        "unreadable_launch",
        30,
    ),
    "an argument that waits": ([("part.shape[0] + 1", "y.max().item()")], "unreadable_launch", 29),
    "applied": ([("def steps(", "def steps_t_1_kernel(): ...\n\n\ndef steps(")], "already_applied", 11),
}


@pytest.mark.parametrize(("pairs", "code", "line"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(refusal: Callable[..., object], pairs: list[tuple[str, str]], code: str, line: int) -> None:
    found = refusal("specialise_clone", changed(*pairs))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]


@pytest.mark.parametrize("settings", [{"value": 2}, {"value": "one"}, {"parameter": "x"}, {"parameter": "D"}])
def test_settings(refusal: Callable[..., object], settings: dict[str, object]) -> None:
    assert refusal("specialise_clone", FILE, **settings).code == "bad_setting"  # type: ignore[attr-defined]
