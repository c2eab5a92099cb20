from typing import Any

import pytest

from skel.validation.isolation import Outcome

LIMITS = {"seconds": 5.0, "megabytes": 100, "processes": 8}


def outcome(*events: dict[str, Any], status: int = 0, **fields: Any) -> Outcome:
    return Outcome(exit_status=status, events=events, limits=LIMITS, **fields)


def test_done_needs_the_tasks_own_end() -> None:
    assert outcome({"event": "done", "result": {"n": 1}}).result == {"n": 1}
    assert not outcome().done
    assert not outcome({"event": "done", "result": {}}, status=-9).done
    assert not outcome({"event": "done", "result": {}}, stopped="timeout").done


@pytest.mark.parametrize(
    ("made", "code", "text"),
    [
        (outcome(status=-11), "worker_crashed", "SIGSEGV"),
        (outcome(status=0), "worker_crashed", "exit status 0 before it was done"),
        (outcome(status=-9, stopped="timeout"), "worker_timeout", "5"),
        (outcome(status=-9, stopped="memory"), "worker_out_of_memory", "100"),
        (outcome(status=-9, stopped="processes"), "worker_crashed", "too many processes"),
        (
            outcome({"event": "raised", "error": "ValueError: no", "line": 3}, status=1),
            "worker_raised",
            "ValueError: no",
        ),
        (
            outcome({"event": "raised", "error": "Triton Error [CUDA]: an illegal memory access was encountered"}),
            "device_error",
            "illegal memory access",
        ),
        (outcome({"event": "raised", "error": "x", "memory": True}, status=1), "worker_out_of_memory", "100"),
    ],
)
def test_every_ending_has_its_finding(made: Outcome, code: str, text: str) -> None:
    (fact,) = made.facts("the candidate")
    assert fact["code"] == code
    assert text in str(fact["fields"])


def test_a_forbidden_attempt_counts_though_the_task_went_on() -> None:
    tried = {"event": "forbidden", "code": "wrote_outside", "tried": "/etc/x"}
    (fact,) = outcome(tried, tried, {"event": "done", "result": {}}).facts("it")
    assert fact["code"] == "wrote_outside"
