"""pass_constexpr and add_parameter: the style that stands there is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skel.rewriter.primitives.pass_constexpr import add_parameter, pass_constexpr

Host = Callable[..., Any]
Refused = Callable[..., tuple[str, tuple[int, ...]]]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("kernel[(1,)](V)", "kernel[(1,)](V, T=2)"),
        ("kernel[(1,)]()", "kernel[(1,)](T=2)"),
        ("kernel[(1,)](V,)", "kernel[(1,)](V, T=2,)"),
        ("kernel[(1,)]((V))", "kernel[(1,)]((V), T=2)"),
        ("kernel[(1,)](V, **cfg)", "kernel[(1,)](V, T=2, **cfg)"),
        ("kernel[(1,)](**cfg)", "kernel[(1,)](T=2, **cfg)"),
        ("kernel[(1,)](V, x=')', y='(,')", "kernel[(1,)](V, x=')', y='(,', T=2)"),
        ("kernel[(1,)](f(V, (1, 2)), lambda a, b: {a: b})", "kernel[(1,)](f(V, (1, 2)), lambda a, b: {a: b}, T=2)"),
        (
            "kernel[(1,)](\n        V,\n        BV=8,\n    )",
            "kernel[(1,)](\n        V,\n        BV=8,\n        T=2,\n    )",
        ),
        (
            "kernel[(1,)](\n        V,\n        BV=8\n    )",
            "kernel[(1,)](\n        V,\n        BV=8,\n        T=2\n    )",
        ),
        (
            "kernel[(1,)](\n        V,\n        BV=8,  # tile\n    )",
            "kernel[(1,)](\n        V,\n        BV=8,  # tile\n        T=2,\n    )",
        ),
        (
            "kernel[(1,)](\n        V,\n        BV=8  # tile\n    )",
            "kernel[(1,)](\n        V,\n        BV=8,  # tile\n        T=2\n    )",
        ),
        (
            "kernel[(1,)](\n        V,\n        # last\n        BV=8,\n        # none\n    )",
            "kernel[(1,)](\n        V,\n        # last\n        BV=8,\n        T=2,\n        # none\n    )",
        ),
        ("kernel[(1,)](\n        V, BV=8,\n    )", "kernel[(1,)](\n        V, BV=8, T=2,\n    )"),
        ("kernel[(1,)](V,\n                 BV=8)", "kernel[(1,)](V,\n                 BV=8, T=2)"),
        (
            "kernel[(1,)](\n        V,\n        **cfg,\n    )",
            "kernel[(1,)](\n        V,\n        T=2,\n        **cfg,\n    )",
        ),
        ("kernel[(1,)] (V)", "kernel[(1,)] (V, T=2)"),
    ],
)
def test_calls(host: Host, call: str, expected: str) -> None:
    case = host(f"def run(V, cfg):\n    {call}\n")
    assert case.after(pass_constexpr(case.module, case.launches, "T", 2)) == case.text.replace(call, expected)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["    ", "\t"])
def test_line_ends_tabs_and_wide_characters(host: Host, newline: str, indent: str) -> None:
    body = (
        "def run(V):\n\tkernel[(1,)](  # größe 瓦片\n\t\tV,  # 'ä'\n\t\ty='瓦片', BV=8,\n\t\tBK=8,\n\t)  # ö\n".replace(
            "\t", indent
        )
    )
    kernel = (
        "# ünï\nimport triton\n\n\n@triton.jit\n"
        "def kernel(V, y, BV: triton.language.constexpr, BK: triton.language.constexpr):\n    pass\n\n\n"
    )
    case = host(body.replace("\n", newline), kernel=kernel.replace("\n", newline))
    after = case.after(
        [*pass_constexpr(case.module, case.launches, "T", 2), *add_parameter(case.module, case.kernel, "T")]
    )
    expected = case.text.replace("constexpr):", "constexpr, T: triton.language.constexpr):")
    assert after == expected.replace("BK=8,", f"BK=8,{newline}{indent * 2}T=2,")
    assert after.count("\r\n") == (after.count("\n") if newline == "\r\n" else 0)


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("(V)", "(V, T: tl.constexpr)"),
        ("(V, B: tl.constexpr = 8)", "(V, B: tl.constexpr = 8, T: tl.constexpr = 1)"),
        ("(V, B: 'tl.constexpr')", "(V, B: 'tl.constexpr', T: 'tl.constexpr')"),
        ("(V, **rest)", "(V, T: tl.constexpr, **rest)"),
        ("(\n    V,\n    B: tl.constexpr,\n)", "(\n    V,\n    B: tl.constexpr,\n    T: tl.constexpr,\n)"),
        (
            "(\n    V,\n    B: tl.constexpr,  # tile\n)",
            "(\n    V,\n    B: tl.constexpr,  # tile\n    T: tl.constexpr,\n)",
        ),
        ("(V,\n           B: tl.constexpr)", "(V,\n           B: tl.constexpr, T: tl.constexpr)"),
        ("()", "(T: tl.constexpr)"),
    ],
)
def test_signatures(host: Host, signature: str, expected: str) -> None:
    kernel = (
        f"import triton\nimport triton.language as tl\n\n\n"
        f"@triton.jit(debug=(1, 2))\ndef kernel{signature}:\n    pass\n\n\n"
    )
    case = host("def run(V):\n    kernel[(1,)](V)\n", kernel=kernel)
    assert case.after(add_parameter(case.module, case.kernel, "T")) == case.text.replace(
        "kernel" + signature, "kernel" + expected
    )


def test_names_that_are_taken(host: Host, refused: Refused) -> None:
    case = host("def run(V):\n    kernel[(1,)](V=V, BV=8)\n")
    assert refused(lambda: pass_constexpr(case.module, case.launches, "BV", 2)) == ("name_taken", (case.launch.line,))
    for name in ("BV", "i", "tl"):
        code, lines = refused(lambda name=name: add_parameter(case.module, case.kernel, name))
        assert (code, lines) == ("name_taken", (case.kernel.node.lineno,))


def test_a_file_that_cannot_say_constexpr(host: Host, refused: Refused) -> None:
    case = host(
        "def run(V):\n    kernel[(1,)](V)\n", kernel="from triton import jit\n\n\n@jit\ndef kernel(V):\n    pass\n\n\n"
    )
    assert refused(lambda: add_parameter(case.module, case.kernel, "T"))[0] == "unknown_construct"
