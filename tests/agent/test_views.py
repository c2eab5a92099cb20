"""Answers about jobs: short, the weightiest first."""

from __future__ import annotations

import dataclasses
from typing import Any

from skel.agent.limits import LIMITS
from skel.agent.tools.get_job import Answer
from skel.agent.views import job_output, size_of
from skel.store.jobs import Job

QUEUED = Job(
    "job_0123456789abcdef", "apply_skeleton", ("/a",), {}, "queued", None, None, None, None, None, "2026", None, None, 1
)


def finding(severity: str, number: int = 0, **data: Any) -> dict[str, Any]:
    return {
        "code": "values_differ",
        "message": f"message {number} " + "x" * 300,
        "place": {"file": "a.py"},
        "severity": severity,
        "data": data,
    }


def done(**result: Any) -> Job:
    return dataclasses.replace(QUEUED, state="done", result={"summary": "it is right", "verdict": "wrong", **result})


def test_a_handle_says_how_to_get_the_result() -> None:
    answer = Answer.model_validate(job_output(QUEUED))
    assert answer.state == "queued" and answer.result is None
    assert (answer.next[0].tool, answer.next[0].arguments["job"]) == ("get_job", QUEUED.id)


def test_errors_come_first() -> None:
    shown = job_output(done(findings=[finding("info"), finding("warning"), finding("error")]))["findings"]
    assert [one["severity"] for one in shown] == ["error", "warning", "info"]


def test_a_huge_result_becomes_a_short_answer_that_says_what_it_leaves_out() -> None:
    findings = [finding("error", n, figures=list(range(2000))) for n in range(500)]
    refusals = [{"code": "unknown_construct", "line": n, "lines": [n] * 50, "message": "y" * 3000} for n in range(100)]
    job = done(
        findings=findings,
        refusals=refusals,
        result={"kernels": [{"name": "k" * 5000}] * 400},
        next=[{"tool": "explain", "arguments": {"file": "z" * 900}, "why": "w" * 900}] * 5,
    )
    answer = job_output(job)
    assert size_of(answer) <= LIMITS.view_bytes
    assert answer["left_out"] == 600 - len(answer["findings"]) - len(answer["refusals"])
    assert answer["findings"][0]["severity"] == "error"
    Answer.model_validate(answer)


def test_a_small_result_is_whole() -> None:
    answer = job_output(done(findings=[finding("error", index="[1, 2]")], result={"out": "b.py"}, parts=["report"]))
    assert answer["left_out"] == 0 and answer["result"] == {"out": "b.py"} and answer["parts"] == ["report"]
    assert answer["findings"][0]["data"] == {"index": "[1, 2]"}


def test_a_traceback_stays_with_us() -> None:
    stored = {"code": "job_crashed", "message": "m", "hint": "h", "traceback": "secret path"}
    job = dataclasses.replace(QUEUED, state="failed", error=stored)
    assert "secret" not in str(job_output(job))
    assert job_output(job)["error"]["code"] == "job_crashed"


def test_an_interrupted_job_says_what_to_do() -> None:
    job = dataclasses.replace(QUEUED, state="failed", error={"code": "job_interrupted"})
    assert "again" in job_output(job)["error"]["hint"]
