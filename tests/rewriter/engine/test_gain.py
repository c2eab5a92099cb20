"""What an opportunity may be worth, and the hook that runs a scan before a commit."""

from pathlib import Path

import pytest
import yaml

from skel.rewriter.analysis.facts import analyse
from skel.rewriter.engine.gain import expected_gain
from skel.rewriter.engine.scan import NOT_FOR_SPEED, scan
from skel.rewriter.kernel.definition import load_module
from skel.sarif import sarif
from skel.store.schema import CODES

ROOT = Path(__file__).resolve().parents[3]
FILE = """import triton
import triton.language as tl


@triton.jit
def tiles_kernel(x, w, y, N, D: tl.constexpr, BV: tl.constexpr):
    i_v, i_n = tl.program_id(0), tl.program_id(1)
    o_d, o_v = tl.arange(0, D), i_v * BV + tl.arange(0, BV)
    b_x = tl.load(x + i_n * N + o_d)
    b_x = b_x / tl.sqrt(tl.sum(b_x * b_x))
    for j in range(N):
        b_w = tl.load(w + j * BV + o_v[None, :] + o_d[:, None] * BV)
        tl.store(y + i_n * N + o_v + j, tl.sum(b_x[:, None] * b_w, 0) / tl.sqrt(tl.sum(b_w * b_w)))
"""


def gain(skeleton: str, line: int, text: str = FILE) -> float:
    module = load_module(text, "file.py")
    return expected_gain(skeleton, skeleton not in NOT_FOR_SPEED, analyse(module, module.kernels[0]), line).score


def test_work_that_repeats_counts_by_its_share() -> None:
    share = gain("fuse_vtiles", 10)
    assert 0 < share < 0.5 and gain("hoist_producer", 10) == share
    more = FILE.replace("tl.sum(b_x[:, None] * b_w, 0)", "(tl.sum(b_x[:, None] * b_w, 0) + tl.max(b_w, 0))")
    assert 0 < gain("fuse_vtiles", 10, more) < share
    alone = FILE.replace("    b_x = b_x / tl.sqrt(tl.sum(b_x * b_x))\n", "")
    assert gain("fuse_vtiles", 10, alone) == 0


@pytest.mark.parametrize(("line", "score"), [(10, 0.1), (12, 0.3), (13, 0.3)])
def test_one_place_counts_by_the_loops_around_it(line: int, score: float) -> None:
    assert gain("div_to_reciprocal", line) == score


def test_what_is_not_for_speed_gains_nothing() -> None:
    assert gain("int64_offsets", 13) == 0
    records = [yaml.safe_load(p.read_text(encoding="utf-8")) for p in (ROOT / "skeletons").glob("*/skeleton.yaml")]
    assert {r["name"] for r in records if r.get("purpose", "speed") != "speed"} == NOT_FOR_SPEED


def test_opportunities_that_apply_come_first_then_the_greater_gain() -> None:
    found = scan(FILE, "file.py").kernels[0].opportunities
    order = [({True: 0, None: 1, False: 2}[o.applicable], -o.gain) for o in found]
    assert len(found) >= 2 and order == sorted(order)
    assert all(o.gain_why for o in found)


def test_sarif_ranks_opportunities() -> None:
    one = {"skeleton": "split_k", "why": "few programs", "line": 3, "refusals": [], "gain": 0.25}
    kernel = {"file": "a.py", "opportunities": [one]}
    (result,) = sarif({"findings": [], "kernels": [kernel]})["runs"][0]["results"]
    assert result["rank"] == 25.0 and result["ruleId"] == "split_k"


def test_the_hook_runs_a_scan_with_codes_that_exist() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    words = hook["entry"].split()
    assert words[:2] == ["skel", "scan"] and set(words[3::2]) <= CODES.keys() and set(words[2::2]) == {"--fail-on"}
    assert hook["language"] == "python" and hook["types"] == ["python"]
