"""What an opportunity may be worth, and the hook that runs a scan before a commit."""

from pathlib import Path

import pytest
import yaml

from skel.rewriter.analysis.facts import analyse
from skel.rewriter.detectors import KernelView
from skel.rewriter.engine.footprint import Footprint, Known, footprint
from skel.rewriter.engine.gain import FEWER_PROGRAMS, LONG_GRIDS, MORE_PROGRAMS, MORE_REGISTERS, expected_gain
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
NOTHING = Footprint(Known(None, "no size is known"), Known(None, "no grid is known"))
LAUNCH = """

def run(x, w, y, N):
    {before}
    tiles_kernel[{grid}](x, w, y, N, D={d}, BV={bv}{options})
"""


def gain(skeleton: str, line: int, text: str = FILE) -> float:
    module = load_module(text, "file.py")
    facts = analyse(module, module.kernels[0])
    return expected_gain(skeleton, skeleton not in NOT_FOR_SPEED, facts, line, NOTHING).score


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


def taken(grid: str = "(4, 33)", d: str = "64", bv: str = "32", options: str = "", before: str = "pass") -> Footprint:
    text = FILE + LAUNCH.format(grid=grid, d=d, bv=bv, options=options, before=before)
    module = load_module(text, "file.py")
    return footprint(KernelView(analyse(module, module.kernels[0])))


@pytest.mark.parametrize(
    ("options", "registers"), [("", 16.0), (", num_warps=1", 64.0), (", num_warps=8, num_stages=2", 8.0)]
)
def test_registers_are_the_largest_block_over_the_threads(options: str, registers: float) -> None:
    found = taken(options=options).registers_per_thread
    assert found.value == registers and "[64, 32]" in found.why  # 64 * 32 elements of 32 bits


def test_registers_follow_the_dtype() -> None:
    text = FILE.replace("b_w = tl.load(w + j * BV + o_v[None, :] + o_d[:, None] * BV)",
                        "b_w = tl.load(w + j * BV + o_v[None, :] + o_d[:, None] * BV).to(tl.float64)")
    module = load_module(text + LAUNCH.format(grid="(4, 33)", d="64", bv="32", options="", before="pass"), "file.py")
    found = footprint(KernelView(analyse(module, module.kernels[0]))).registers_per_thread
    assert found.value == 32.0 and "fp64" in found.why


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"d": "N"}, "the size of D is not in the source"),
        ({"options": ", num_warps=N"}, "its warps follow from the launch"),
        ({"options": ", **N"}, "takes options from elsewhere"),
    ],
)
def test_registers_that_are_not_in_the_source_are_unknown(change: dict[str, str], why: str) -> None:
    found = taken(**change).registers_per_thread
    assert found.value is None and why in found.why


def test_waves_are_programs_over_what_the_device_holds() -> None:
    found = taken().waves
    assert found.value == round(132 / (132 * 16), 3) and "132 programs, 16 at a time" in found.why
    # 1 warp, 64 registers a thread: 32 programs a multiprocessor are the limit.
    assert taken(options=", num_warps=1").waves.value == round(132 / (132 * 32), 3)
    # 512 registers a thread, 1 warp: 65536 / (512 * 32) programs.
    assert taken(d="128", bv="128", options=", num_warps=1").waves.value == round(132 / (132 * 4), 3)
    assert taken("(N, 4)").waves == Known(None, "its grid follows from N")
    assert taken("(sms,)", before="sms = device.multi_processor_count").waves.value == 1.0
    module = load_module(FILE, "file.py")
    assert footprint(KernelView(analyse(module, module.kernels[0]))).waves.value is None


@pytest.mark.parametrize(
    ("skeleton", "figures", "better"),
    [
        ("fuse_vtiles", {"waves": 0.5}, False),
        ("fuse_vtiles", {"registers": 200.0}, False),
        ("split_tiles", {"waves": 0.5}, True),
        ("split_tiles", {"waves": 5.0}, False),
        ("persistent_grid", {"waves": 40.0}, True),
        ("persistent_grid", {"waves": 2.0}, False),
        ("pipeline_loads", {"registers": 200.0}, False),
    ],
)
def test_what_is_known_of_the_device_moves_the_rank(skeleton: str, figures: dict[str, float], better: bool) -> None:
    module = load_module(FILE, "file.py")
    facts = analyse(module, module.kernels[0])
    known = Footprint(Known(figures.get("registers"), "so"), Known(figures.get("waves"), "so"))
    before, after = (expected_gain(skeleton, True, facts, 12, one) for one in (NOTHING, known))
    assert (after.score > before.score) is better and after.score != before.score
    assert "unknown" in before.why and ("so" in after.why)


def test_what_is_moved_are_skeletons() -> None:
    names = {p.parent.name for p in (ROOT / "skeletons").glob("*/skeleton.yaml")}
    assert FEWER_PROGRAMS | MORE_PROGRAMS | LONG_GRIDS | MORE_REGISTERS <= names


def test_the_scan_says_what_it_ranked_by() -> None:
    launch = LAUNCH.format(grid="(4, 33)", d="64", bv="32", options="", before="pass")
    kernel = scan(FILE + launch, "file.py").kernels[0]
    assert kernel.facts is not None and kernel.facts.waves.value and kernel.facts.registers_per_thread.value == 16
    assert kernel.facts.invariant_work == {"divide": 1, "sum": 1}
    (fuse,) = [o for o in kernel.opportunities if o.skeleton == "fuse_vtiles"]
    assert "16 registers a thread" in fuse.gain_why and "waves on sm_90" in fuse.gain_why and "1 sum" in fuse.gain_why


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
