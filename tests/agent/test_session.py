"""The one door: what is checked, what is logged, what stays inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skel.agent import registry
from skel.agent import session as door
from skel.agent.errors import CallError
from skel.agent.limits import LIMITS
from skel.agent.session import Session
from skel.store.calls import list_calls
from skel.store.schema import CODES
from tests.agent.calling import code_of, do


def outcomes(session: Session) -> list[tuple[str, str]]:
    return [(one.tool, one.outcome) for one in list_calls(session.database)]


def test_an_answer_is_typed_and_logged(idle: Session) -> None:
    answer = idle.call("search_skeletons", {"query": "redundant normalization", "limit": 2})
    assert answer.model_dump()["hits"][0]["name"] == "fuse_vtiles"
    assert outcomes(idle) == [("search_skeletons", "ok")]
    assert "redundant" in list_calls(idle.database)[0].arguments


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("no_such_tool", {}, "unknown_tool"),
        ("search_skeletons", {}, "bad_input"),
        ("search_skeletons", {"query": "x", "unknown": 1}, "bad_input"),
        ("search_skeletons", {"query": 5}, "bad_input"),
        ("search_skeletons", [], "bad_input"),
        ("search_skeletons", "text", "bad_input"),
        ("search_skeletons", None, "bad_input"),
        ("search_skeletons", {"query": "x", "limit": 10**9}, "bad_input"),
        ("get_skeleton", {"name": "no_such"}, "unknown_skeleton"),
        ("get_skeleton", {"name": "../fuse_vtiles"}, "bad_input"),
        ("get_job", {"job": "job_0123456789abcdef"}, "unknown_job"),
        ("get_job", {}, "unknown_job"),
        ("get_job", {"wait_seconds": 1e9}, "bad_input"),
        ("cancel_job", {"job": "1 OR 1=1"}, "bad_input"),
        ("scan_kernel", {"file": "none.py"}, "no_such_file"),
        ("explain", {"file": "kda_decode.py", "skeleton": "no_such"}, "unknown_skeleton"),
        ("apply_skeleton", {"file": "kda_decode.py", "skeleton": "fuse_vtiles", "out": "gated_norm.py"}, "file_exists"),
        ("apply_skeleton", {"file": "kda_decode.py", "skeleton": "fuse_vtiles", "target": "sm_90; rm"}, "bad_input"),
        ("check_equivalence", {"original": "kda_decode.py", "candidate": "none.py"}, "no_such_file"),
        ("add_evidence", {"job": "job_0123456789abcdef"}, "unknown_job"),
        ("get_evidence", {"skeleton": "no_such"}, "unknown_skeleton"),
    ],
)
def test_errors_have_stable_codes_and_are_logged(idle: Session, tool: str, arguments: object, code: str) -> None:
    assert code_of(idle, tool, arguments) == code
    assert CODES[code].kind == "error"
    assert outcomes(idle) == [(tool, code)]


def test_an_oversized_call_is_not_even_looked_at(idle: Session) -> None:
    assert code_of(idle, "search_skeletons", {"query": "x" * LIMITS.argument_bytes}) == "too_large"
    assert len(list_calls(idle.database)[0].arguments) <= 2000


def test_endless_nesting_is_refused(idle: Session) -> None:
    nested: object = 1
    for _ in range(100_000):
        nested = [nested]
    assert code_of(idle, "search_skeletons", {"query": nested}) in ("bad_input", "too_large")


def test_a_fault_of_ours_keeps_its_text_to_itself(idle: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    def broken(session: Session, given: object) -> str:
        raise ZeroDivisionError("with a secret in it")

    tool = dataclasses.replace(registry.TOOLS["get_skeleton"], start=broken)
    monkeypatch.setitem(door.TOOLS, "get_skeleton", tool)
    with pytest.raises(CallError) as raised:
        idle.call("get_skeleton", {"name": "fuse_vtiles"})
    assert raised.value.code == "internal_error" and "secret" not in str(raised.value)
    assert "with a secret" in outcomes(idle)[0][1]


def test_what_is_known_says_where_to_go_on(idle: Session) -> None:
    found = idle.call("search_skeletons", {"query": "a gate is recomputed for every value tile"}).model_dump()
    assert found["next"][0]["tool"] == "get_skeleton"
    assert [one["arguments"]["name"] for one in found["next"]] == [hit["name"] for hit in found["hits"][:2]]
    assert idle.call("search_skeletons", {"query": "how to bake bread"}).model_dump()["next"] == ()
    read = idle.call("get_skeleton", {"name": "fuse_vtiles"}).model_dump()
    assert read["next"][0]["tool"] == "get_evidence" and read["measured"] > 0


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"skeleton": "split_kv"}, "advice_only"),
        ({"skeleton": "div_to_reciprocal", "settings": {"no": 1}}, "no_such_option"),
    ],
)
def test_a_refusal_that_the_record_answers_leads_to_the_record(
    idle: Session, tmp_path: Path, given: dict[str, Any], code: str
) -> None:
    worked = do(idle, "apply_skeleton", tmp_path, file="gated_norm.py", **given)
    assert worked.refusals[0]["code"] == code
    assert [one["tool"] for one in worked.next] == ["get_skeleton", "scan_kernel"]
    assert worked.next[0]["arguments"] == {"name": given["skeleton"]}


def test_a_handle_comes_at_once_and_the_same_call_gets_the_same_job(idle: Session) -> None:
    arguments = {"file": "kda_decode.py", "wait_seconds": 0}
    first, second = (idle.call("scan_kernel", arguments).model_dump() for _ in range(2))
    assert first["state"] == "queued" and first["job"] == second["job"]
    assert first["next"][0]["tool"] == "get_job"


def test_a_full_queue_says_so(idle: Session) -> None:
    for number in range(LIMITS.waiting_jobs):
        idle.call("explain", {"file": "kda_decode.py", "skeleton": "fuse_vtiles", "settings": {"tiles": number},
                              "wait_seconds": 0})  # fmt: skip
    assert code_of(idle, "scan_kernel", {"file": "kda_decode.py", "wait_seconds": 0}) == "queue_full"


def test_a_cancelled_job_stays_cancelled(idle: Session) -> None:
    job = idle.call("scan_kernel", {"file": "kda_decode.py", "wait_seconds": 0}).model_dump()["job"]
    assert idle.call("cancel_job", {"job": job}).model_dump()["state"] == "cancelled"
    assert idle.call("cancel_job", {"job": job}).model_dump()["state"] == "cancelled"
    assert code_of(idle, "get_job", {"job": job, "part": "report"}) == "job_not_done"
    assert code_of(idle, "add_evidence", {"job": job}) == "no_evidence"


def test_answers_stay_short(idle: Session) -> None:
    for tool, arguments in (("get_skeleton", {"name": "fuse_vtiles"}), ("search_skeletons", {"query": "slow norm"})):
        text = json.dumps(idle.call(tool, arguments).model_dump(mode="json", exclude_none=True))
        assert len(text) < 8000, tool
