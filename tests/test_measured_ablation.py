"""What ablation found: the committed table, its section in docs/measurements.md, and `skel show`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skel.ablated import SHIPPED, ablated_of, of_technique, telling, verdicts
from skel.measured_ablation import ABLATION, ablation_section
from skel.store.load import load_all
from skel.store.packaged import packaged_folder
from skel.validation.ablation.table import PUT_IN, TILE, WARPS, summary, text
from skel.validation.protocol import Protocol

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / ABLATION).read_text())
    return found


def test_the_table_covers_what_it_has_to(data: dict[str, Any]) -> None:
    rows = [row for row in data["rows"] if row["verdict"] in ("pays", "costs", "neutral")]
    names = {skeleton.name for skeleton in load_all()}
    assert len({row["technique"] for row in rows} & names) >= 8
    assert len({(row["file"], row["kernel"]) for row in rows}) >= 30
    assert {row["technique"] for row in rows} <= names | {TILE, WARPS}
    assert {case["source"] for case in data["cases"].values()} == {"fla-core", "sglang"}
    assert "H200" in data["environment"]["device"]


def test_every_row_holds_what_its_verdict_says(data: dict[str, Any]) -> None:
    low, high = Protocol().timing.control_interval
    for row in data["rows"]:
        assert row["equal"] in ("bitwise", "close") and row["samples"] >= 16
        median, least, most = row["ratio"]
        assert least <= median <= most
        steady = low <= row["control"][1] and row["control"][2] <= high
        assert steady != (row["verdict"] == "inconclusive")
        assert (row["verdict"] == "no trace") <= (low <= most and least <= high)
        if row["verdict"] in ("pays", "costs"):
            assert (least > high) if (row["verdict"] == "pays") != (row["version"] in PUT_IN) else (most < low)


def test_the_summary_is_that_of_the_rows(data: dict[str, Any]) -> None:
    assert data["summary"]["techniques"] == summary(data["rows"])
    assert text(data) == (ROOT / ABLATION).read_text()


def test_losses_are_in_it(data: dict[str, Any]) -> None:
    assert sum(row["verdict"] == "costs" for row in data["rows"]) >= 5


def test_it_ships_with_the_skeletons() -> None:
    assert (packaged_folder() / SHIPPED).read_bytes() == (ROOT / ABLATION).read_bytes()
    found = ablated_of("exp_to_exp2")
    assert found["summary"]["rows"] == len(found["rows"]) and found["environment"]["device"]
    assert all(row["licence"] and row["source_version"] and row["shape"] for row in found["rows"])
    assert ablated_of("release_gil") == {} == of_technique({}, "exp_to_exp2")


def test_the_rows_at_both_ends() -> None:
    rows = [{"verdict": "neutral", "ratio": [ratio]} for ratio in (1.0, 3.0, 2.0, 0.5)]
    rows.append({"verdict": "inconclusive", "ratio": [9.0]})
    assert [row["ratio"][0] for row in telling(rows, 3)] == [3.0, 2.0, 0.5]
    assert [row["ratio"][0] for row in telling(rows, 9)] == [3.0, 2.0, 1.0, 0.5]
    counts = {"pays": 2, "costs": 0, "neutral": 1, "inconclusive": 0, "no trace": 3}
    assert verdicts(counts) == "2 pays, 1 neutral, 3 no trace"


def test_the_section(tmp_path: Path, data: dict[str, Any]) -> None:
    assert ablation_section(tmp_path) == []
    few = {**data, "rows": [row for row in data["rows"] if row["technique"] == "cache_hints"]}
    few["summary"] = {**data["summary"], "techniques": {"cache_hints": data["summary"]["techniques"]["cache_hints"]}}
    (tmp_path / ABLATION).parent.mkdir(parents=True)
    (tmp_path / ABLATION).write_text(json.dumps(few))
    lines = ablation_section(tmp_path)
    conclusive = [row for row in few["rows"] if row["verdict"] != "inconclusive"]
    shown = [line for line in lines if line.startswith("| cache_hints | drop_cache_hints")]
    assert len(shown) == len(conclusive)
    greatest = max(conclusive, key=lambda row: row["ratio"][0])
    assert greatest["kernel"] in shown[0] and shown[0].endswith("| pays |")
    assert f"| cache_hints | {few['summary']['techniques']['cache_hints']['kernels']} |" in "\n".join(lines)
