"""Finding launches by definition, and binding their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skel.rewriter.kernel.launch import calls_of, escapes_of, readable_launches

Host = Callable[..., Any]
Refused = Callable[..., tuple[str, tuple[int, ...]]]


def test_positional_and_keyword_arguments_bind_to_the_signature(host: Host) -> None:
    case = host("def run(x, y, V):\n    kernel[(1,)](x, y, K=3, V=V, BV=16, BK=8, num_warps=2, num_stages=1)\n")
    bound = {name: case.source(node) for name, node in case.launch.arguments.items()}
    assert bound == {"x": "x", "y": "y", "K": "3", "V": "V", "BV": "16", "BK": "8"}
    assert {n: case.source(k.value) for n, k in case.launch.options.items()} == {"num_warps": "2", "num_stages": "1"}
    assert case.launch.function is not None and case.launch.function.name == "run"


def test_a_parameter_called_like_an_option_is_an_argument(host: Host) -> None:
    kernel = "import triton\n@triton.jit\ndef kernel(x, num_stages: int):\n    pass\n"
    case = host("def run(x):\n    kernel[(1,)](x, num_stages=3)\n", kernel=kernel)
    assert "num_stages" in case.launch.arguments and not case.launch.options


@pytest.mark.parametrize(
    "launcher",
    [
        "def run(x):\n    go = kernel\n    go[(1,)](x)\n",
        "go = kernel\ndef run(x):\n    go[(1,)](x)\n",
        "def run(x):\n    kernel.run(x, grid=(1,), warmup=False)\n",
        "class Op:\n    @staticmethod\n    def forward(ctx, x):\n        kernel[(1,)](x)\n",
        (
            "def run(x):\n    with guard():\n        if x:\n"
            "            def inner():\n                return kernel[(1,)](x)\n"
        ),
        "run = lambda x: kernel[(1,)](x)\n",
        "TABLE = {1: kernel}\ndef run(x):\n    TABLE[x][(1,)](x)\n",
        "def run(x):\n    kernel.fn[(1,)](x)\n",
    ],
)
def test_forms_of_launching(host: Host, launcher: str) -> None:
    case = host(launcher)
    assert case.source(case.launch.arguments["x"]) == "x"
    assert "warmup" not in case.launch.options and "grid" not in case.launch.options
    assert not case.launch.conditional


@pytest.mark.parametrize(
    "launcher",
    [
        "def run(kernel, x):\n    kernel[(1,)](x)\n",
        "def run(x):\n    kernel = other()\n    kernel[(1,)](x)\n",
        "def run(x):\n    kernel.warmup(x, grid=(1,))\n",
        "def run(x):\n    return x.kernel[0](x)\n",
    ],
)
def test_what_is_not_a_launch_of_it(host: Host, launcher: str) -> None:
    assert host(launcher).launches == ()


def test_a_choice_of_kernels_is_conditional(host: Host, refused: Refused) -> None:
    case = host(
        "@triton.jit\ndef other(x):\n    pass\n\n\ndef run(x, c):\n    go = kernel if c else other\n    go[(1,)](x)\n"
    )
    assert case.launch.conditional and case.launch.others == ("other",)
    assert refused(lambda: readable_launches(case.module, case.kernel)) == ("unreadable_launch", (case.launch.line,))


def test_two_definitions_of_one_name(host: Host) -> None:
    case = host("if triton:\n    @triton.jit\n    def kernel(x):\n        pass\n\n\ndef run(x):\n    kernel[(1,)](x)\n")
    assert case.launch.others == ("kernel",)


def test_splats(host: Host, refused: Refused) -> None:
    case = host("def run(x, cfg, more):\n    kernel[(1,)](x, **cfg, **more)\n")
    assert [case.source(s) for s in case.launch.splats] == ["cfg", "more"]
    assert [r.call for r in readable_launches(case.module, case.kernel)] == [case.launch.call]
    hidden = host("def run(x, args):\n    kernel[(1,)](x, *args, BV=3)\n")
    assert set(hidden.launch.arguments) == {"x", "BV"} and hidden.launch.positional_splat is not None
    assert refused(lambda: readable_launches(hidden.module, hidden.kernel))[0] == "unreadable_launch"


def test_launches_out_of_sight(host: Host, refused: Refused) -> None:
    none = host("def run(x):\n    return x\n")
    assert refused(lambda: readable_launches(none.module, none.kernel)) == ("no_launch_site", (6,))
    handed = host("def run(x):\n    enqueue(kernel, (1,), x)\n    kernel[(1,)](x)\n")
    assert [n.lineno for n in escapes_of(handed.module, handed.kernel)] == [12]
    assert refused(lambda: readable_launches(handed.module, handed.kernel)) == ("unreadable_launch", (12,))


def test_a_launched_kernel_that_another_calls_cannot_change_alone(host: Host, refused: Refused) -> None:
    case = host("@triton.jit\ndef outer(x):\n    kernel(x)\n\n\ndef run(x):\n    kernel[(1,)](x)\n")
    assert [c.lineno for c in calls_of(case.module, case.kernel)] == [13]
    assert refused(lambda: readable_launches(case.module, case.kernel)) == ("unreadable_launch", (13, 17))


def test_device_calls_and_second_names_are_no_escape(host: Host) -> None:
    case = host("exported = kernel\n\n\n@triton.jit\ndef outer(x):\n    kernel(x)\n    tl.reduce(x, 0, kernel)\n")
    assert escapes_of(case.module, case.kernel) == ()
