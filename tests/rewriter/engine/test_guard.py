"""Guarded files run beside the original: the same results, the variant only where it was measured, or a refusal."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skel.rewriter.engine.guard import emit_guard
from skel.rewriter.engine.guard_choices import Choice, choices_of
from skel.rewriter.reasons import Refuse

TEXT = '''\
import torch
import triton
import triton.language as tl

CALLS = []


@triton.jit
def add_kernel(x, bias, y, stride, N, D: tl.constexpr, BD: tl.constexpr, HAS_BIAS: tl.constexpr):
    o_d = tl.program_id(0) * BD + tl.arange(0, BD)
    i_n = tl.program_id(1)
    value = tl.load(x + i_n * stride + o_d, mask=o_d < D, other=0.0)
    if HAS_BIAS:
        value += tl.load(bias + o_d, mask=o_d < D, other=0.0)
    tl.store(y + i_n * D + o_d, value, mask=o_d < D)


def add(x, bias=None, scale=1.0):
    """Adds."""
    N, D = x.shape
    y = torch.empty((N, D), dtype=x.dtype)
    BD = 16
    add_kernel[(triton.cdiv(D, BD), N)](
        x, bias, y, x.stride(0), N, D=D, BD=BD, HAS_BIAS=bias is not None
    )
    return y
'''
RECORDED = Choice(
    "n4",
    "wide",
    (2, 4),
    {"stride": 32, "N": 4, "D": 32, "BD": 16, "HAS_BIAS": True},
    {"x": "float32", "bias": "float32", "y": "float32"},
)


def wide(text: str) -> str:
    """The variant: a wider tile, and a note that it ran."""
    assert "    BD = 16\n" in text
    return text.replace("    BD = 16\n", "    BD = 32\n    CALLS.append(N)\n")


def guarded(text: str, *choices: Choice) -> str:
    made = emit_guard(text, "k.py", "add_kernel", {"wide": wide(text)}, choices or [RECORDED])
    ast.parse(made.text)
    return made.text


def load(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    path = folder / "made.py"
    path.write_bytes(text.encode())
    space: dict[str, Any] = {"__name__": "made", "__file__": str(path)}
    exec(compile(text, str(path), "exec"), space)
    return space


def test_runs_the_variant_only_where_it_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    space = load(guarded(TEXT), tmp_path, monkeypatch)
    x, bias = torch.randn(4, 32), torch.randn(32)
    other = torch.randn(4, 64)[:, ::2]
    cases = [
        ((x, bias), {}, x + bias, True),
        ((x,), {"bias": bias}, x + bias, True),
        ((), {"bias": bias, "x": x}, x + bias, True),
        ((x,), {}, x, False),
        ((x.half(), bias.half()), {}, x.half() + bias.half(), False),
        ((x, bias.double()), {}, None, False),
        ((torch.randn(5, 32), bias), {}, None, False),
        ((torch.randn(4, 48), torch.randn(48)), {}, None, False),
        ((torch.nn.functional.pad(x, (0, 8))[:, :32], bias), {}, x + bias, False),
    ]
    assert other.stride(0) == 64
    for args, kwargs, expected, ran in cases:
        space["CALLS"].clear()
        result = space["add"](*args, **kwargs)
        assert bool(space["CALLS"]) is ran
        if expected is not None:
            torch.testing.assert_close(result, expected)


def test_an_argument_that_was_none_stays_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    text = TEXT.replace("HAS_BIAS=bias is not None", "HAS_BIAS=False")
    dtypes = {"x": "float32", "y": "float32"}
    constants = {**RECORDED.constants, "HAS_BIAS": False}
    made = guarded(text, replace(RECORDED, dtypes=dtypes, constants=constants, absent=frozenset({"bias"})))
    assert "bias is None" in made
    space = load(made, tmp_path, monkeypatch)
    space["add"](torch.randn(4, 32), torch.randn(32))
    assert not space["CALLS"]
    space["add"](torch.randn(4, 32))
    assert space["CALLS"] == [4]


def test_a_function_that_calls_itself_is_guarded_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    again = (
        "    y = torch.empty((N, D), dtype=x.dtype)\n"
        "    if N > 3:\n        return torch.cat([add(x[:2], bias), add(x[2:], bias)])\n"
    )
    text = TEXT.replace("    y = torch.empty((N, D), dtype=x.dtype)\n", again)
    small = replace(RECORDED, label="n2", variant=None, grid=(2, 2), constants={**RECORDED.constants, "N": 2})
    space = load(guarded(text, RECORDED, small), tmp_path, monkeypatch)
    x, bias = torch.randn(4, 32), torch.randn(32)
    torch.testing.assert_close(space["add"](x, bias), x + bias)
    assert not space["CALLS"], "two rows keep the original, whoever asks for them"


@pytest.mark.parametrize("end", ["\r\n", "\n"], ids=["crlf", "lf"])
@pytest.mark.parametrize("step", ["    ", "\t"], ids=["spaces", "tabs"])
def test_line_ends_and_tabs_are_kept(end: str, step: str) -> None:
    text = TEXT.replace("    ", step).replace("\n", end)
    wider = text.replace(f"BD = 16{end}", f"BD = 32{end}")
    made = emit_guard(text, "k.py", "add_kernel", {"wide": wider}, [RECORDED]).text
    ast.parse(made)
    assert made.count("\n") == made.count(end) and (step == "    " or "    " not in made)


def test_two_statements_in_a_line_stay_together() -> None:
    made = guarded(TEXT.replace("    N, D = x.shape\n", "    N, D = x.shape; M = N\n"))
    assert made.index("M = N") < made.index("return add_fused")


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("    return y\n", "    yield y\n", "generator"),
        ("    N, D = x.shape\n", "    N, D = x.shape; CALLS.append(1)\n", "more than read"),
        ("    N, D = x.shape\n", "    assert CALLS.append(1) is None\n    N, D = x.shape\n", "more than read"),
        ("    N, D = x.shape\n", "    x.calls, D = 1, x.shape[1]\n    N = x.shape[0]\n", "more than read"),
        ("    N, D = x.shape\n", "    global COUNT\n    COUNT = COUNT + 1\n    N, D = x.shape\n", "more than read"),
        ("scale=1.0):", "**more):", None),
        ("    N, D = x.shape\n", "    scale = scale * 2\n    N, D = x.shape\n", "would set it again"),
        ("BD), N)]", "BD), x.max().item())]", "only read"),
        ("BD), N)]", "BD), count(x))]", "only read"),
    ],
    ids=["generator", "same line", "assert acts", "attribute", "global", "more", "set twice", "item", "call"],
)
def test_refused(before: str, after: str, why: str | None) -> None:
    text = TEXT.replace(before, after)
    assert text != TEXT
    if why is None:
        text = text.replace("    N, D = x.shape\n", "    more = dict(more)\n    N, D = x.shape\n")
        why = "more than read"
    with pytest.raises(Refuse) as refused:
        guarded(text)
    assert refused.value.refusal.code == "guard_not_possible"
    assert why in refused.value.refusal.message


def test_keywords_that_the_prologue_changes_are_refused() -> None:
    text = TEXT.replace("scale=1.0):", "**more):").replace("    N, D", "    more = {'x': more}\n    N, D")
    with pytest.raises(Refuse, match="would set it again"):
        guarded(text)


def test_a_function_in_one_line_is_refused() -> None:
    body = "add_kernel[(triton.cdiv(x.shape[1], 16), x.shape[0])](x, bias, x, 1, 1, D=x.shape[1], BD=16, HAS_BIAS=True)"
    text = TEXT[: TEXT.index("def add(")] + f"def add(x, bias): {body}\n"
    with pytest.raises(Refuse, match="one line"):
        emit_guard(text, "k.py", "add_kernel", {"wide": text.replace("16", "32")}, [RECORDED])


def test_workloads_that_the_launcher_cannot_tell_apart_are_refused() -> None:
    other = replace(RECORDED, label="hot", variant=None)
    with pytest.raises(Refuse, match="cannot tell n4 and hot apart"):
        guarded(TEXT, RECORDED, other)


def test_sizes_that_are_expressions_keep_their_meaning() -> None:
    text = TEXT.replace("BD), N)]", "BD), N or 1)]")
    assert "(N or 1) == 4" in guarded(text)


def test_a_choice_for_every_launch_of_a_workload() -> None:
    launch = {"kernel": "k", "grid": [1, 4], "constants": {"N": 4}, "dtypes": {}}
    rows = [
        {"label": "w", "chosen": "v", "launches": [launch, launch | {"grid": [1, 8]}, launch | {"kernel": "o"}, launch]}
    ]
    assert [one.grid for one in choices_of(rows, "k", {"v"})] == [(1, 4), (1, 8)]


def test_names_of_classes_are_taken() -> None:
    with pytest.raises(Refuse) as refused:
        guarded(TEXT + "\n\nclass add_fused:\n    pass\n")
    assert refused.value.refusal.code == "name_taken"
