"""persistent_grid: what is done once, what the loop's variable may be, how programs are bounded; refusals."""

from collections.abc import Callable

import pytest

FILE = """import torch
import triton
import triton.language as tl


@triton.jit
def blocks_kernel(x, y, N, BN: tl.constexpr):
    i = tl.program_id(0)
    o = i * BN + tl.arange(0, BN)
    tl.store(y + o, tl.load(x + o, mask=o < N), mask=o < N)


def blocks(x, y):
    N = x.numel()
    blocks_kernel[(triton.cdiv(N, 64),)](x, y, N, BN=64)
"""


def changed(*pairs: tuple[str, str]) -> str:
    text = FILE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_the_id_becomes_the_variable_of_a_loop(rewrite: Callable[..., list[str]]) -> None:
    assert rewrite("persistent_grid", FILE, per_multiprocessor=2) == [
        "def blocks_kernel(x, y, N, BN: tl.constexpr, programs):",
        "for i in range(tl.program_id(0), programs, tl.num_programs(0)):",
        "o = i * BN + tl.arange(0, BN)",
        "tl.store(y + o, tl.load(x + o, mask=o < N), mask=o < N)",
        "resident = 2 * (torch.cuda.get_device_properties(y.device).multi_processor_count if y.is_cuda else 1)",
        "blocks_kernel[(min(triton.cdiv(N, 64), resident),)](x, y, N, BN=64, programs=triton.cdiv(N, 64))",
    ]


@pytest.mark.parametrize(
    "pairs",
    [
        [("i = tl.program_id(0)", "i = tl.program_id(0).to(tl.int64)")],
        [("i * BN", "i.to(tl.int64) * BN")],
        [("i * BN", "tl.program_id(0) * BN"), ("    i = tl.program_id(0)\n", "")],
        [("    o = i * BN", "    j = i % BN\n    o = j * BN")],
        [("    o = i * BN", "    n = tl.cdiv(BN, 2)\n    j = i // n\n    o = j * BN")],
    ],
)
def test_an_id_that_must_be_a_tensor_stays_one(rewrite: Callable[..., list[str]], pairs: list[tuple[str, str]]) -> None:
    lines = rewrite("persistent_grid", changed(*pairs))
    assert "for i_program in range(tl.program_id(0), programs, tl.num_programs(0)):" in lines
    assert any("tl.cast(i_program, tl.int32)" in line for line in lines)


@pytest.mark.parametrize(
    ("pairs", "tensor"),
    [
        ([("(x, y, N, BN=64", "(x[1:], y.view(-1), N, BN=64")], "y"),
        ([("    tl.store(y", "    if i < N:\n        tl.store(y")], "y"),
        ([("    tl.store(y", "    if BN > 1:\n        tl.store(y")], None),
        ([("    tl.store(y", "    if BN > 1 and i < N:\n        tl.store(y")], None),
    ],
)
def test_the_device_is_that_of_a_tensor_that_is_surely_there(
    rewrite: Callable[..., list[str]], refusal: Callable[..., object], pairs: list[tuple[str, str]], tensor: str | None
) -> None:
    if tensor is None:
        assert refusal("persistent_grid", changed(*pairs)).code == "unreadable_launch"  # type: ignore[attr-defined]
    else:
        asked = f"resident = 4 * (torch.cuda.get_device_properties({tensor}.device)"
        assert any(line.startswith(asked) for line in rewrite("persistent_grid", changed(*pairs)))


def test_a_moved_pointer_starts_anew_in_each_round(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("persistent_grid", changed(("    o = i", "    x += i * N\n    o = i")))
    assert lines[2:4] == ["x_item = x", "x_item += i * N"]
    assert "tl.store(y + o, tl.load(x_item + o, mask=o < N), mask=o < N)" in lines


def test_the_bound_stands_before_the_grid_is_made(rewrite: Callable[..., list[str]]) -> None:
    text = changed(
        (
            "    blocks_kernel[(triton.cdiv(N, 64),)]",
            "    grid = (triton.cdiv(N, 64),)\n    N = 1 * N\n    blocks_kernel[grid]",
        )
    )
    lines = rewrite("persistent_grid", text.replace("    N = 1 * N\n", ""))
    assert lines.index("grid = (min(triton.cdiv(N, 64), resident),)") == len(lines) - 2
    assert lines[-3].startswith("resident = 4 * (torch.cuda")


def test_a_count_that_needs_the_tuned_tile_is_made_in_the_kernel(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("persistent_grid", changed(("[(triton.cdiv(N, 64),)]", "[lambda m: (triton.cdiv(N, m['BN']),)]")))
    assert "for i in range(tl.program_id(0), tl.cdiv(N, BN), tl.num_programs(0)):" in lines


REFUSALS = {
    "already": (
        [("    o = i", "    for j in range(i, N, tl.num_programs(0)):\n        N = j\n    o = i")],
        "already_applied",
        9,
    ),
    "counts programs": ([("i * BN", "i * BN * tl.num_programs(0)")], "grid_barrier", 9),
    "two axes": ([("64),)]", "64), 2)]")], "grid_has_axes", 15),
    "an exit": ([("    o = i", "    if i > N:\n        return\n    o = i")], "exit_between_tiles", 10),
    "an exit of all after a store": (
        [
            (
                "    tl.store(y + o,",
                "    tl.store(y + o, 0.0, mask=o < N)\n    if N > 900:\n        return\n    tl.store(y + o,",
            )
        ],
        "exit_between_tiles",
        12,
    ),
    "a constexpr that is set": ([("    o = i", "    BN = 2 * i\n    o = i")], "carried_across_tiles", 9),
    "the name of a moved pointer": ([("    o = i", "    x += i * N\n    x_item = 0\n    o = i")], "name_taken", 7),
    "a lock": ([("    o = i", "    tl.atomic_cas(y, 0, 1)\n    o = i")], "grid_barrier", 9),
    "one store of all": ([("    i = tl", "    tl.store(y, 1.0)\n    i = tl")], "unguarded_invariant_store", 8),
    "an unknown call": ([("    o = i", "    o = elsewhere(i)\n    o = i")], "opaque_call", 9),
    "no program": ([], "bad_setting", 7),
    "a grid of another function": (
        [
            ("    blocks_kernel[(triton.cdiv(N, 64),)]", "    blocks_kernel[GRID]"),
            ("def blocks(x", "GRID = (64,)\n\n\ndef blocks(x"),
        ],
        "unreadable_launch",
        18,
    ),
    "the tensor is set after": (
        [
            (
                "    blocks_kernel[(triton.cdiv(N, 64),)]",
                "    grid = (triton.cdiv(N, 64),)\n    y = y[0]\n    blocks_kernel[grid]",
            )
        ],
        "unreadable_launch",
        17,
    ),
    "the name is taken": ([("    N = x", "    resident = 1\n    N = x")], "name_taken", 16),
    "without torch": ([("import torch\n", "")], "unknown_construct", 14),
}


@pytest.mark.parametrize(("pairs", "code", "line"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(refusal: Callable[..., object], pairs: list[tuple[str, str]], code: str, line: int) -> None:
    arguments = {"per_multiprocessor": 0} if code == "bad_setting" else {}
    found = refusal("persistent_grid", changed(*pairs), **arguments)
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]
