"""Where a tile comes from, and what decorators say of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skel.rewriter.kernel.autotune import autotune_reading, heuristics_reading, tuned_names
from skel.rewriter.kernel.tile import trace_tile

Host = Callable[..., Any]
Refused = Callable[..., tuple[str, tuple[int, ...]]]


@pytest.mark.parametrize(
    ("launcher", "kind"),
    [
        ("def run(V):\n    kernel[(1,)](BV=32)\n", "literal"),
        ("def run(V):\n    kernel[(1,)](BV=triton.next_power_of_2(V))\n", "expression"),
        ("def run(V):\n    BV = min(32, V)\n    kernel[(1,)](BV=BV)\n", "name"),
        ("def run(V):\n    BK, BV = 8, 32\n    kernel[(1,)](BV=BV)\n", "name"),
        ("def run(V):\n    if V:\n        BV = 8\n    else:\n        BV = 16\n    kernel[(1,)](BV=BV)\n", "name"),
        ("BLOCK = 32\n\n\ndef run(V):\n    kernel[(1,)](BV=BLOCK)\n", "constant"),
        ("def run(V):\n    BV = pick(V)\n    kernel[(1,)](BV=BV)\n", "call"),
        ("def run(V):\n    BV, warps = pick(V)\n    kernel[(1,)](BV=BV)\n", "call"),
        ("def run(V, BV=32):\n    kernel[(1,)](BV=BV)\n", "default"),
        ("def run(V, BV):\n    kernel[(1,)](BV=BV)\n", "parameter"),
        ("def run(V, cfg):\n    kernel[(1,)](BV=cfg['tile'])\n", "dict"),
        ("def run(V, cfg):\n    kernel[(1,)](BV=int(cfg['tile']))\n", "dict"),
        ("def run(V, cfg):\n    kernel[(1,)](**cfg)\n", "dict"),
        ("def run(self, V):\n    kernel[(1,)](BV=self.tile)\n", "unknown"),
        ("def run(V):\n    BV = 8\n    BV *= 2\n    kernel[(1,)](BV=BV)\n", "unknown"),
        ("def run(V):\n    for BV in (8, 16):\n        kernel[(1,)](BV=BV)\n", "unknown"),
        ("def run(V):\n    kernel[(1,)](V)\n", "unknown"),
    ],
)
def test_kinds(host: Host, launcher: str, kind: str) -> None:
    case = host(launcher)
    assert trace_tile(case.module, case.launch, "BV").kind == kind


def test_dict_key_and_container(host: Host) -> None:
    case = host("def run(V, cfg):\n    kernel[(1,)](BV=cfg['tile'])\n")
    binding = trace_tile(case.module, case.launch, "BV")
    assert (binding.key, case.source(binding.container), binding.through_splat) == ("tile", "cfg", False)
    case = host("def run(V, other):\n    opts = dict(num_warps=2)\n    kernel[(1,)](**opts, **other)\n")
    assert case.source(trace_tile(case.module, case.launch, "BV").container) == "other"


def test_two_dicts_that_may_hold_it(host: Host, refused: Refused) -> None:
    case = host("def run(V, one, two):\n    kernel[(1,)](**one, **two)\n")
    assert refused(lambda: trace_tile(case.module, case.launch, "BV")) == ("tile_through_kwargs", (case.launch.line,))


def decorated(decorators: str, default: str = "") -> str:
    return (
        f"import triton\nimport triton.language as tl\n\n\n{decorators}@triton.jit\n"
        f"def kernel(x, V, BV: tl.constexpr{default}, EVEN: tl.constexpr = True):\n    pass\n\n\n"
    )


@pytest.mark.parametrize(
    ("configs", "names", "complete"),
    [
        ("[triton.Config({'BV': 16}), triton.Config({'BK': 1}, num_warps=4)]", {"BV", "BK"}, True),
        ("[triton.Config({'BV': b}, num_warps=w) for b in (1, 2) for w in (1, 2)]", {"BV"}, True),
        ("[triton.Config(dict(BV=16))]", {"BV"}, True),
        ("[triton.Config(kwargs={'BV': 16})] + [triton.Config({})]", {"BV"}, True),
        ("CONFIGS", {"BV"}, True),
        ("make()", {"BV"}, True),
        ("list(filter(lambda c: c, CONFIGS))", {"BV"}, True),
        ("imported()", set(), False),
        ("[triton.Config(table)]", set(), False),
        ("[triton.Config({}, num_warps=w) for w in (1, 2)]", set(), True),
    ],
)
def test_autotune_configurations(host: Host, configs: str, names: set[str], complete: bool) -> None:
    kernel = (
        "import triton\nCONFIGS = [triton.Config({'BV': 8})]\n\n\ndef make():\n    out = []\n"
        "    out.append(triton.Config({'BV': 8}))\n    return out\n\n\n"
        + decorated(f"@triton.autotune(configs={configs}, key=['V'])\n")
    )
    case = host("def run(x):\n    kernel[(1,)](x, 3)\n", kernel=kernel)
    assert tuned_names(case.module, case.kernel) == (frozenset(names), complete)
    expected = "autotune" if "BV" in names or not complete else "unknown"
    assert trace_tile(case.module, case.launch, "BV").kind == expected


def test_who_reads_the_tile_in_decorators(host: Host) -> None:
    kernel = decorated(
        "@triton.heuristics({'EVEN': lambda args: args['V'] % args['BV'] == 0, 'OTHER': lambda a: a['V']})\n"
        "@triton.autotune([triton.Config({})], key=['V', 'BV'])\n"
    )
    case = host("def run(x):\n    kernel[(1,)](x, 3, 32)\n", kernel=kernel)
    assert set(heuristics_reading(case.kernel, "BV")) == {"EVEN"}
    assert len(autotune_reading(case.kernel, "BV")) == 1 and autotune_reading(case.kernel, "EVEN") == ()


def test_heuristic_and_kernel_default(host: Host) -> None:
    case = host("def run(x):\n    kernel[(1,)](x, 3)\n", kernel=decorated("@triton.heuristics({'BV': lambda a: 32})\n"))
    assert trace_tile(case.module, case.launch, "BV").kind == "heuristic"
    case = host("def run(x):\n    kernel[(1,)](x, 3)\n", kernel=decorated("", " = 32"))
    binding = trace_tile(case.module, case.launch, "BV")
    assert binding.kind == "param_default" and case.source(binding.decorator) == "32"


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        ("n = triton.cdiv(V, BV)", "count"),
        ("n = (V + BV - 1) // BV", "count"),
        ("assert BV <= 64", "assert"),
        ("if BV > 64:\n        raise ValueError(BV)", "assert"),
        ("w = 4 if BV > 64 else 2", "option"),
        ("p = x.new_empty(BV)", "other"),
        ("q = BV\n    helper(q)", "other"),
        ("helper(BV)", "other"),
        ("other[(triton.cdiv(V, BV),)](x)", "other"),
        ("other[(1,)](x, BV)", "other"),
    ],
)
def test_uses_of_the_tile(host: Host, use: str, kind: str) -> None:
    case = host(
        "@triton.jit\ndef other(x, n):\n    pass\n\n\ndef run(x, V):\n    w = 4\n    BV = 32\n"
        f"    {use}\n    kernel[(1,)](V=V, BV=BV, num_warps=w)\n"
    )
    uses = trace_tile(case.module, case.launch, "BV").uses
    assert {u.kind for u in uses} == {kind, "argument"}


def test_a_second_parameter_with_the_same_tile_is_another_use(host: Host) -> None:
    case = host("def run(x, V):\n    B = 32\n    kernel[(1,)](V=V, BV=B, BK=B)\n")
    assert [u.kind for u in trace_tile(case.module, case.launch, "BV").uses] == ["argument", "other"]
