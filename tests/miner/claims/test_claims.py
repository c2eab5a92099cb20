"""Numbers in messages, as claims: what is read, what belongs to it, and what is no claim."""

from __future__ import annotations

from typing import Any

import pytest

from skel.miner.claims import Claim, parse_claims


def only(message: str) -> Claim:
    (claim,) = parse_claims(message)
    return claim


def pair(claim: Claim) -> tuple[float, float, str]:
    assert claim.before is not None and claim.after is not None and claim.before.unit == claim.after.unit
    return claim.before.value, claim.after.value, claim.after.unit


@pytest.mark.parametrize(
    ("text", "expected", "outcome"),
    [
        ("attn: 1.15ms -> 0.685ms (matches)", (1.15, 0.685, "ms"), "gain"),
        ("from ~392 us to ~363 us per call", (392, 363, "us"), "gain"),
        ("121→76 µs at batch 512", (121, 76, "us"), "gain"),
        ("throughput went from 217 TFLOPS to 397 TFLOPS", (217, 397, "TFLOPS"), "gain"),
        ("runs at 1094T → 1144T now", (1094, 1144, "TFLOPS"), "gain"),
        ("decode: 3 ms => 3.2 ms", (3, 3.2, "ms"), "loss"),
        ("the kernel is ~542 us/call before and after autotune", (542, 542, "us"), "none"),
        ("peak memory 1,024 MB -> 512 MB", (1024, 512, "MB"), "gain"),
        ("reducing GB200 time from\n~392 us to\n~363 us", (392, 363, "us"), "gain"),
        ("Before: 31 us (5 blocks, 2.7% SM util)\nAfter:  8.5 us (126 blocks)", (31, 8.5, "us"), "gain"),
    ],
)
def test_comparisons(text: str, expected: tuple[float, float, str], outcome: str) -> None:
    claim = only("Subject\n\n" + text)
    assert pair(claim) == expected and claim.outcome == outcome


@pytest.mark.parametrize(
    ("text", "field", "value", "outcome"),
    [
        ("up to 1.59x for long sequences", "ratio", 1.59, "gain"),
        ("dkv ~5x in dev A/B at D128", "ratio", 5, "gain"),
        ("0.97x of the baseline", "ratio", 0.97, "loss"),
        ("transposing the axes instead costs up to 7% on larger shapes", "percent", 7, "loss"),
        ("geomean +29.93% speedup", "percent", 29.93, "gain"),
        ("H200 e2e -6.4%", "percent", -6.4, "gain"),
        ("throughput -3%", "percent", -3, "loss"),
        ("20% faster than before", "percent", 20, "gain"),
    ],
)
def test_ratios_and_percentages(text: str, field: str, value: float, outcome: str) -> None:
    claim = only(text)
    assert getattr(claim, field) == value and claim.outcome == outcome


def test_a_range_keeps_both_ends() -> None:
    claim = only("speedup of 1.78–2.63x over the unfused path")
    assert (claim.ratio_low, claim.ratio) == (1.78, 2.63)


def test_a_bracket_belongs_to_its_comparison_where_it_agrees() -> None:
    claim = only("4096: 591T → 624T (+5.7%)")
    assert claim.percent == 5.7
    with_other_base = parse_claims("3.51ms -> 2.16ms (20% faster than OLD's 2.70ms)")
    assert [c.percent for c in with_other_base] == [None, 20]


def test_a_list_states_its_unit_once_and_its_shapes_each() -> None:
    one, two = parse_claims("S=128 SKV=8192 217→397 TFLOPS (+83%), S=128 SKV=4096 196→335 (+71%)")
    assert pair(one) == (217, 397, "TFLOPS") and one.shape == "S=128 SKV=8192"
    assert pair(two) == (196, 335, "TFLOPS") and two.shape == "S=128 SKV=4096"


def test_shape_device_and_type_come_from_the_paragraph_or_its_lead() -> None:
    claim = parse_claims("Fuse\n\nBenchmark (NVIDIA B200, M=4096, FP8):\n\n- dense: 591T → 624T\n")[0]
    assert (claim.gpu, claim.shape, claim.dtype) == ("B200", "M=4096", "fp8")
    claim = only("Faster on H100\n\nB8_T1024_H8_D64: 3 ms -> 2 ms")
    assert (claim.gpu, claim.shape) == ("H100", "B8_T1024_H8_D64")
    assert only("4096×2112×7168: 591T → 624T").shape == "4096x2112x7168"


def test_two_devices_are_not_guessed_between() -> None:
    assert all(c.gpu is None for c in parse_claims("Tested on H100 and B200.\n\nkernel: 3 ms -> 2 ms\n"))


TABLE = """Speed

Old against new:

| B | T    | K  | Old (ms) | New (ms) | Speedup |
|---|------|----|----------|----------|---------|
| 8 | 2048 | 64 | 0.4485   | 0.3199   | 1.40x   |
| 2 | 1024 | 64 | 0.3000   | 0.3600   | 0.83x   |
"""


def test_tables() -> None:
    one, two = parse_claims(TABLE)
    assert pair(one) == (0.4485, 0.3199, "ms") and one.ratio == 1.4 and one.shape == "B=8 T=2048 K=64"
    assert (one.outcome, two.outcome) == ("gain", "loss")


def test_tables_set_with_spaces() -> None:
    text = "Numbers\n\nshape    before (us)   after (us)\nsmall    10.5          5.25\nlarge    100           80\n"
    assert [pair(c) for c in parse_claims(text)] == [(10.5, 5.25, "us"), (100, 80, "us")]


def test_a_rate_that_was_reached() -> None:
    claim = only("BlockTile 256x128 optimizations enable 1500+ TFLOPS FP8 performance on the H800-SXM platform")
    assert claim.value is not None and (claim.value.value, claim.value.unit) == (1500, "TFLOPS")
    assert claim.gpu == "H800-SXM" and claim.shape is None


@pytest.mark.parametrize(
    "text",
    [
        "Bump version to 2.3.1",
        "cooperative warp layout (4M×2N)",
        "each warp handles 2 M-tiles × 8 N-tiles instead of 1 × 16",
        "tested on 8x H100 and 2x B200",
        "use 1x128 tiles and a 256x128 block",
        "uses 34% of 188 SMs",
        "fix #1077 (65535 blocks)",
        "Co-authored-by: A <a@b.c> 50% faster",
        "B loads 16→8 LDSM",
        "",
    ],
)
def test_what_is_no_claim(text: str) -> None:
    assert parse_claims(text) == ()


def test_a_level_is_no_change_of_time() -> None:
    claim = only("L1 throughput drops from 61% to 41%")
    assert claim.percent is None and pair(claim) == (61, 41, "%") and claim.outcome == "unknown"


@pytest.mark.parametrize(
    "text", ["9" * 5000, "| a |\n" * 3000, "1.5x " * 4000, "a=1 " * 5000, "- " * 9000, "\x00 3 ms"]
)
def test_hostile_messages_end_soon(text: str) -> None:
    result: Any = parse_claims(text)
    assert isinstance(result, tuple)
