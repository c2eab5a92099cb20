"""What a report shows of a piece of evidence: places of marks, baselines, floors, what was chosen, who won and lost."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from skel.report import view_of
from skel.report.scale import scale_for
from skel.report.surface import shade
from skel.report.view import Article
from skel.store.schema import Evidence
from tests.report.making import checked, losing, piece, timed, unfinished


def article(evidence: Evidence) -> Article:
    (made,) = view_of([piece(evidence)]).articles
    return made


def test_a_scale_is_logarithmic_and_holds_one() -> None:
    scale = scale_for([0.5, 2.0])
    assert math.isclose(scale.at(1.0), 50.0, abs_tol=0.01)
    assert math.isclose(scale.at(2.0) - 50.0, 50.0 - scale.at(0.5), abs_tol=0.02)
    assert scale_for([1.7]).holds(1.0) and scale_for([]).holds(1.0)


@pytest.mark.parametrize("values", [[1.001], [0.98, 1.05], [0.3, 2.4], [1.0, 900.0], [0.001, 1000.0], [1e-9, 1e9]])
def test_ticks_stand_apart_and_name_their_place(values: list[float]) -> None:
    scale = scale_for(values)
    places = [at for at, _ in scale.ticks]
    assert "1×" in [label for _, label in scale.ticks]
    assert len(places) >= 2 and all(b - a >= 12 for a, b in pairwise(places))
    assert all(abs(scale.at(float(label[:-1])) - at) < 0.01 for at, label in scale.ticks)


def test_every_version_of_every_workload_has_its_marks() -> None:
    small, large = article(timed()).plots
    assert [row.name for row in small.rows] == ["original", "original 4w 1s", "wide-4w", "loop-2w"]
    assert [[mark.mode for mark in row.marks] for row in small.rows] == [[], *[["cold", "warm"]] * 3]
    assert [row.tags for row in small.rows] == [("as shipped",), ("own best",), ("chosen", "only widened"), ()]
    assert small.scale == large.scale
    for row in (*small.rows, *large.rows):
        assert all(0 <= mark.low <= mark.at <= mark.high <= 100 for mark in row.marks)
    best, worst = small.rows[2].marks[0], small.rows[3].marks[0]
    one = next(guide.at for guide in small.guides if guide.kind == "one")
    own = next(guide.at for guide in small.guides if guide.kind == "own")
    assert worst.at < one < own < best.at, "0.84, 1, 1.2, 1.5"
    assert small.band is not None and small.band[0] < one < small.band[0] + small.band[1]


def test_the_floor_is_drawn_where_it_lies_on_the_axis_and_said_anyway() -> None:
    small, large = article(timed()).plots
    assert "2.5× is the most" in small.note and "20.0× is the most" in large.note
    assert [guide.kind for guide in small.guides] == ["one", "own"]
    assert small.rows[2].floors == (("cold", 60.0), ("warm", 40.0))
    near = timed()
    near.workloads[0]["floor"]["cold_us"] = 7.0
    assert [guide.kind for guide in article(near).plots[0].guides] == ["one", "own", "floor"]


def test_the_means_are_held_against_all_three_baselines() -> None:
    means = article(timed()).means
    assert means is not None
    assert [(m.baseline, m.ratio["cold"].median, m.ratio["warm"].median) for m in means.means] == [
        ("the original as shipped", 1.69, 1.73),
        ("the original's own best configuration", 1.41, 1.39),
        ("only widening the tile", 1.31, 1.32),
    ]
    assert means.minimum == {"cold": 1.5, "warm": 1.6}


def test_what_runs_is_held_against_the_originals_own_best() -> None:
    small, large = article(timed()).workloads
    assert small.runs is not None and small.runs.name == "wide-4w"
    assert small.over_own("cold") == pytest.approx(1.5 / 1.2, rel=1e-3)
    assert large.over_own("warm") == pytest.approx(1.88 / 1.25, rel=1e-3)
    plain = timed()
    del plain.timing["own_configurations"]
    assert [one.over_own("cold") for one in article(plain).workloads] == [None, None]


def test_winners_and_losers() -> None:
    ranking = article(timed()).ranking
    assert ranking is not None
    assert [(one.name, round(one.mean, 3)) for one in ranking.timed] == [("wide-4w", 1.285), ("loop-2w", 1.263)]
    assert ranking.timed[1].ends == (("small", 0.84), ("large", 1.9))
    assert [one.name for one in ranking.partly] == ["wide-8w"] and ranking.untimed == ()
    assert ranking.why_untimed == (("spills", 1),)
    assert [row.tags for row in ranking.shown.rows] == [("chosen",), ("chosen",)]
    assert ranking.folded is not None and "on 1 of 2" in ranking.folded.rows[0].note


def test_a_long_ranking_is_folded_in_the_middle() -> None:
    many = timed()
    template = many.timing["screening"][0]
    many.timing["screening"][:] = [
        {**template, "candidate": f"c{n:02}", "workload": label, "cold": 2.0 - n / 20}
        for n in range(30)
        for label in ("small", "large")
    ]
    ranking = article(many).ranking
    assert ranking is not None and ranking.folded is not None
    names = [row.name for row in ranking.shown.rows]
    assert names == [f"c{n:02}" for n in (*range(8), *range(26, 30))]
    assert [row.name for row in ranking.folded.rows] == [f"c{n:02}" for n in range(8, 26)]


def test_the_search_surface_is_tile_by_warps_for_each_form() -> None:
    surfaces = article(timed()).surfaces
    assert [one.title for one in surfaces] == ["Geometric mean over the workloads", "small", "large"]
    loop, widen = surfaces[0].grids
    assert (loop.title, loop.columns) == ("loop", ("2",))
    assert (widen.title, widen.columns, [title for title, _ in widen.rows]) == ("widen", ("4", "8"), ["64"])
    four, eight = widen.rows[0][1]
    assert (four.text, four.chosen, four.shade) == ("1.28", True, 2)
    assert (eight.text, eight.chosen, eight.shade) == ("0.70*", False, -3)
    assert "on 1 of 2 workloads (spills)" in eight.label
    spilled = surfaces[2].grids[1].rows[0][1][1]
    assert (spilled.text, spilled.timed) == ("spills", False)


@pytest.mark.parametrize(
    ("gain", "expected"), [(1.0, 0), (1.02, 0), (0.98, 0), (1.2, 2), (2.0, 4), (0.5, -4), (0.9, -1)]
)
def test_shades(gain: float, expected: int) -> None:
    assert shade(gain) == expected


def test_compile_figures_over_the_workloads() -> None:
    two = timed()
    two.workloads[1]["candidates"]["loop-2w"] |= {"registers": 128, "spill_bytes": 72}
    figures = {one.name: one for one in article(two).compiled}
    assert figures["loop-2w"].registers == (96, 128) and figures["loop-2w"].spills
    assert figures["original"].registers == (190, 190) and not figures["original"].spills
    assert figures["wide-4w"].chosen and not figures["original"].chosen


def test_findings_come_worst_first() -> None:
    assert [(said.severity, said.code) for said in article(timed()).findings] == [
        ("warning", "control_failed"),
        ("info", "slower_here"),
    ]


def test_a_comparison_without_timing() -> None:
    made = article(checked())
    assert not made.is_timed and made.means is None and made.surfaces == () and made.ranking is None
    (compared,) = made.numerics.compared
    assert (compared.passed, compared.wrong, compared.not_counted) == (5, 0, 1)
    assert compared.errors == (("0", "1.94e-08", "1.95e-08"),)
    assert [(one.name, one.registers, one.spills) for one in made.compiled] == [
        ("original", (38, 38), False),
        ("loop-2w", (40, 40), True),
    ]
    assert ("the check's own check", "24 of 24 deliberately wrong outputs rejected") in made.numerics.facts


def test_a_losing_timing_keeps_the_original_everywhere() -> None:
    made = article(losing())
    assert made.means is None and made.is_timed
    assert [one.chosen for one in made.workloads] == ["original", "original"]
    assert made.workloads[0].over_own("cold") == pytest.approx(1 / 1.2, rel=1e-3)
    assert made.changes.why_not == ("No candidate was chosen: the original's text stays.",)


def test_an_unfinished_timing_has_nothing_to_draw() -> None:
    made = article(unfinished())
    assert not made.is_timed and made.compiled == () and made.control == ""
