"""Code that was made to take for ever ends soon, and says what was not read."""

from __future__ import annotations

import os
import time

import pytest

from skel.miner.code.python_file import mine_python
from skel.miner.cuda.mining import mine_cuda
from skel.miner.errors import SourceError
from skel.miner.pool import in_processes

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef q(x):\n"


def test_loops_in_loops_in_loops_end() -> None:
    body = "".join("    " + " " * n + "for i in range(2):\n" for n in range(40)) + " " * 60 + "x = 1\n"
    began = time.process_time()
    mined = mine_python((HEAD + body).encode(), "a.py", "a.py")
    assert time.process_time() - began < 10
    assert "a loop inside 10 others is not understood" in mined.faults[0]


@pytest.mark.parametrize(
    "text",
    [
        "#define M " + "__attribute__((a))" * 40 + "x\n",
        "#define M inline" + " " * 30_000 + "x\n",
        "__launch_bounds__(" * 1000,
        'R"(' * 20_000 + "/*" * 20_000,
        "__global__ void k(float* x){ x[0]=" + "+".join(["x[1]"] * 800) + "; }\n",
    ],
)
def test_cuda_that_never_closes_ends(text: str) -> None:
    began = time.process_time()
    mine_cuda([("a.cu", text.encode())])
    assert time.process_time() - began < 10


def test_a_process_that_is_ended_from_outside_is_said() -> None:
    with pytest.raises(SourceError, match="was ended") as raised:
        list(in_processes(os._exit, [(1,), (1,)], jobs=2))
    assert raised.value.missing
