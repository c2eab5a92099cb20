"""Jobs that run kernels, done as everywhere: in processes of their own, confined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skel.agent.session import Session
from skel.gpu import gpu_names
from skel.store.records import get_skeleton, list_skeletons
from skel.validation.isolation import landlock
from tests.agent.calling import Place, call, code_of
from tests.agent.kernels import NO_DIVISION, SCALE, SCRIPT, WRONG

pytestmark = pytest.mark.slow

RECORD: dict[str, Any] = {
    "name": "unit_rows",
    "title": "Multiply by the reciprocal of a length",
    "summary": "A length divides many elements: take its reciprocal once.",
    "symptoms": {"en": ["Frobnication of rows divides every element by the same length."]},
    "kind": "local",
    "schedule": [{"primitive": "div_to_reciprocal"}],
    "numerics": {"result": "approximate", "why": "A product with a reciprocal rounds twice."},
    "cases": [
        {"file": "cases/scale.py", "expect": "rewrite"},
        {"file": "cases/plain.py", "expect": "refuse", "refusal": "pattern_not_found"},
    ],
}


def test_a_wrong_candidate_is_told_where_and_why(session: Session, place: Place) -> None:
    (place.root / "scale.py").write_text(SCALE)
    (place.root / "wrong.py").write_text(WRONG)
    answer = call(session, "check_equivalence", original="scale.py", candidate="wrong.py")
    assert answer["verdict"] == "wrong"
    found = {one["code"]: one for one in answer["findings"]}
    assert {"values_differ", "wrong_element", "wrong_change"} <= set(found)
    element, step = found["wrong_element"], found["wrong_change"]
    assert [one["code"] for one in answer["findings"]][:2] == ["wrong_element", "wrong_change"]
    assert {key: element["data"][key] for key in ("output", "index", "program", "tile_lanes")} == {
        "output": "output", "index": [0], "program": 0, "tile_lanes": 16
    }  # fmt: skip
    if element["measured"] == "interpreter":  # what was seen of the stores says the same
        seen = element["data"]["writer"]
        assert seen["program"] == [0, 0, 0] and seen["line"] == element["place"]["line"]
        assert seen["tile"] == [[0], [15]]
    assert element["place"]["line"] == WRONG.splitlines().index("    tl.store(y + at, scaled, mask=at < n)") + 1
    assert step["data"]["statement"] == "length = tl.sqrt(value * value + 1.5)"
    assert step["place"]["file"] == "wrong.py"
    differs = found["values_differ"]
    assert differs["hint"] and differs["data"]["first_index"] and differs["place"]["file"] == "wrong.py"
    assert differs["data"]["further_cases"] > 0 and answer["left_out"] > 0
    assert [one["tool"] for one in answer["next"]] == ["get_job", "check_equivalence"]


def test_a_skeleton_is_added_when_its_cases_pass(session: Session) -> None:
    cases = {"cases/scale.py": SCALE, "cases/plain.py": NO_DIVISION}
    answer = call(session, "propose_skeleton", record=RECORD, cases=cases)
    assert answer["result"]["admitted"] is True, answer
    assert answer["result"]["status"] == "hypothesis"
    assert [one["passed"] for one in answer["result"]["cases"]] == [True, True]
    assert get_skeleton(session.database, "unit_rows").title == RECORD["title"]
    hits = session.call("search_skeletons", {"query": "frobnication of rows"}).model_dump()["hits"]
    assert hits[0]["name"] == "unit_rows"


def test_a_skeleton_is_not_added_when_a_case_fails(session: Session) -> None:
    cases = {"cases/scale.py": NO_DIVISION, "cases/plain.py": SCALE}
    answer = call(session, "propose_skeleton", record=RECORD, cases=cases)
    assert answer["state"] == "done" and answer["result"]["admitted"] is False
    first, second = answer["result"]["cases"]
    assert "pattern_not_found" in first["why"] and "it was rewritten" in second["why"]
    assert "unit_rows" not in [one.name for one in list_skeletons(session.database)]


@pytest.mark.skipif(landlock.version() == 0, reason="this Linux has no Landlock")
def test_a_script_is_captured_and_its_launches_are_a_workload(session: Session, place: Place) -> None:
    spying = SCRIPT.replace("    print(", f"    try:\n        print(open({str(place.secret)!r}).read())\n"
                            f"    except OSError:\n        print('kept out')\n"
                            "    try:\n        open('written', 'w')\n    except OSError:\n        print('kept from')\n"
                            "    print(")  # fmt: skip
    if gpu_names():
        spying = spying.replace("make_inputs(0, ", "make_inputs(0, 'cuda', ")
    (place.root / "script.py").write_text(spying)
    answer = call(session, "capture_workloads", script="script.py")
    assert answer["state"] == "done", answer
    assert answer["result"]["out"] == "script_capture.zip" and (place.root / "script_capture.zip").is_file()
    (launch,) = answer["result"]["launches"]
    assert launch["kernel"] == "scale_kernel" and launch["grid"][0] == 3
    report = call(session, "get_job", job=answer["job"], part="report")["piece"]["text"]
    assert "kept out" in report and "kept from" in report and "nobody may see this" not in report
    assert not (place.root / "written").exists()


def test_results_outlive_the_one_who_asked(session: Session, place: Place, tmp_path: Path) -> None:
    answer = call(session, "scan_kernel", file="gated_norm.py")
    later = Session(session.database, session.roots)
    assert call(later, "get_job", job=answer["job"]) == answer | {"piece": None}
    (tmp_path / "other").mkdir()
    from skel.agent.roots import Roots

    elsewhere = Session(session.database, Roots((tmp_path / "other",)))
    assert code_of(elsewhere, "get_job", {"job": answer["job"]}) == "unknown_job"


@pytest.mark.skipif(bool(gpu_names()), reason="there is a GPU here")
def test_without_a_gpu_nothing_is_timed(session: Session) -> None:
    given = {"original": "kda_decode.py", "candidate": "kda_decode.py"}
    assert code_of(session, "benchmark", given) == "not_here"


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_names(), reason="there is no GPU here")
def test_two_versions_are_timed(session: Session, place: Place) -> None:
    (place.root / "scale.py").write_text(SCALE)
    (place.root / "again.py").write_text(SCALE.replace("length", "size"))
    answer = call(session, "benchmark", original="scale.py", candidate="again.py")
    assert answer["verdict"] in ("neutral", "inconclusive") and answer["result"]["timed"]
    kept = call(session, "add_evidence", job=answer["job"], skeleton="div_to_reciprocal")
    assert kept["level"] == "timing"
