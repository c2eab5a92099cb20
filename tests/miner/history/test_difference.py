"""What counts as an edit of a kernel, and what is only renaming or layout."""

from __future__ import annotations

import pytest

from skel.miner.history.difference import file_edit
from skel.miner.history.model import FunctionEdit

from .repositories import KERNEL


def edits(old: str | None, new: str | None, path: str = "k.py") -> dict[str, FunctionEdit]:
    found = file_edit(path, old.encode() if old is not None else None, new.encode() if new is not None else None)
    assert found.note is None
    return {e.name: e for e in found.functions}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "b_x = tl.load(x + o_n, mask=o_n < N)",
            "b_x = tl.load(\n        x + o_n,\n        mask=o_n < N,\n    )  # a comment",
        ),
        ("b_x", "b_rows"),
        ("i_n", "row"),
        ('    """Scales rows."""\n', ""),
        ("import triton.language as tl", "from triton import language as tl"),
        ("tl.exp(b_x - s)", "(tl.exp((b_x - s)))"),
    ],
)
def test_renames_and_layout_are_no_edit(old: str, new: str) -> None:
    assert old in KERNEL
    assert not edits(KERNEL, KERNEL.replace(old, new))


def test_an_alias_is_the_operation_it_stands_for() -> None:
    aliased = KERNEL.replace("import triton.language as tl\n", "import triton.language as tl\n\nexp = tl.exp\n")
    aliased = aliased.replace("tl.exp(", "exp(")
    assert "scale_kernel" not in edits(KERNEL, aliased)


def test_an_operation_that_changes_is_an_edit_with_its_tokens() -> None:
    (edit,) = edits(KERNEL, KERNEL.replace("tl.exp(b_x - s)", "tl.exp2((b_x - s) * 1.4426950408889634)")).values()
    assert (edit.name, edit.kind) == ("scale_kernel", "kernel")
    assert edit.removed == {"tl.exp": 1} and edit.added == {"tl.exp2": 1}
    (statement,) = edit.statements
    assert statement.removed == ("tl.exp",) and statement.added == ("tl.exp2",)
    assert statement.before and "tl.exp(b_x - s)" in statement.before


def test_a_rename_beside_an_edit_does_not_hide_it() -> None:
    new = KERNEL.replace("i_n", "row").replace("tl.program_id(0)", "tl.program_id(0).to(tl.int64)")
    (edit,) = edits(KERNEL, new).values()
    (statement,) = edit.statements
    assert (statement.before, statement.after) == ("row = tl.program_id(0)", "row = tl.program_id(0).to(tl.int64)")


def test_sums_in_another_order_are_no_statement_edit() -> None:
    new = KERNEL.replace("i_n * BN + tl.arange(0, BN)", "tl.arange(0, BN) + i_n * BN")
    assert all(not e.statements for e in edits(KERNEL, new).values())


@pytest.mark.parametrize(
    ("old", "new", "function", "gained"),
    [
        (", 8)", ", 32)", "scale", "cap_raised"),
        (", 8)", ", 4)", "scale", "cap_lowered"),
        ("num_warps=1", "num_warps=4", "scale", "option:num_warps_raised"),
        ("N, BN: tl.constexpr", "N: tl.constexpr, BN: tl.constexpr", "scale_kernel", "constexpr:N"),
    ],
)
def test_facts_that_change(old: str, new: str, function: str, gained: str) -> None:
    assert gained in edits(KERNEL, KERNEL.replace(old, new))[function].gained


def test_flattened_grids_show_in_kernel_and_launcher() -> None:
    two = KERNEL.replace("tl.program_id(0)", "tl.program_id(0) + tl.program_id(1)")
    one = KERNEL.replace("tl.program_id(0)", "tl.program_id(0) // N")
    edit = edits(two, one)["scale_kernel"]
    assert "axes:2" in edit.lost and {"axes:1", "decodes_ids"} <= set(edit.gained)


def test_a_function_with_another_name_is_paired_by_its_words() -> None:
    new = KERNEL.replace("def scale_kernel", "def scale_fwd_kernel").replace("scale_kernel[", "scale_fwd_kernel[")
    found = edits(KERNEL, new)
    assert "scale_fwd_kernel" not in found and "scale_kernel" not in found
    assert set(found) == {"scale"}, "its launch is another"


def test_new_and_dropped_functions() -> None:
    extra = KERNEL + "\n\n@triton.jit\ndef other(x):\n    tl.store(x, 0)\n"
    assert edits(KERNEL, extra)["other"].before is None
    assert edits(extra, KERNEL)["other"].after is None
    assert edits(None, KERNEL)["scale_kernel"].parameters == ("x", "o", "s", "N", "BN")


def test_files_without_kernels_say_nothing() -> None:
    assert not edits("x = 1\n", "x = 2\n")


@pytest.mark.parametrize("text", ["def f(:\n  triton", "triton = '\x00'"])
def test_what_is_no_python_is_noted(text: str) -> None:
    found = file_edit("k.py", text.encode(), KERNEL.encode())
    assert found.note is not None and not found.functions


def test_cuda_is_compared_by_words() -> None:
    old = "__global__ void __launch_bounds__(128, 1)\nadd(float* x) { x[0] += 1; } // adds\n"
    assert not edits(old, "__global__ void __launch_bounds__(128, 1) add(float *x)\n{ x[0] += 1; }\n", "k.cu")
    (edit,) = edits(old, old.replace("x[0] += 1;", "if (split_k > 1) x[0] += 1;"), "k.cu").values()
    assert edit.kind == "cuda" and edit.added == {"if": 1, "split_k": 1}
    assert edits(None, old, "k.cu")["<file>"].parameters == ("add",)
