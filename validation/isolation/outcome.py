"""What became of one task, as the main process sees it, and the findings that follow from it alone."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass, field
from typing import Any, Literal

_BREAKS_CONTEXT = re.compile(
    "illegal memory access|illegal address|misaligned address|illegal instruction|unspecified launch failure"
    "|device-side assert|hardware stack error|uncorrectable"
)
"""In a message of CUDA: an error after which every call in that process fails."""

Stop = Literal["timeout", "memory", "processes"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one worker: how it ended, what it reported on the way, and what it printed last."""

    exit_status: int
    """Exit status; minus the signal's number where a signal ended it."""
    stopped: Stop | None = None
    """Why we ended it, where we did."""
    events: tuple[dict[str, Any], ...] = ()
    output_tail: str = ""
    """The last of what it printed: for people only, nothing is read out of it."""
    seconds: float = 0.0
    resident_megabytes: float = 0.0
    """Most memory seen."""
    forged_lines: int = 0
    """Lines on the reporting pipe that did not know its secret."""
    limits: dict[str, Any] = field(default_factory=dict)
    """The limits in force: seconds, megabytes."""

    @property
    def done(self) -> bool:
        """True where the task came to its own end."""
        return self.stopped is None and self.exit_status == 0 and self.last("done") is not None

    @property
    def result(self) -> dict[str, Any]:
        """What the task handed back; empty where it did not come to its end."""
        event = self.last("done")
        return dict(event["result"]) if event and self.done else {}

    def last(self, name: str) -> dict[str, Any] | None:
        """The last event of that name."""
        return next((event for event in reversed(self.events) if event["event"] == name), None)

    def all(self, name: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == name]

    def wrong_code(self, what: str, sha256: str, path: str) -> list[dict[str, Any]]:
        """`wrong_code_ran` where the worker ever had another text, or another file, than was meant."""
        meant = {"sha256": sha256, "path": path}
        wrong = {
            (event[key], value) for event in self.all("loaded") for key, value in meant.items() if event[key] != value
        }
        return [_fact("wrong_code_ran", what=what, ran=ran, meant=value) for ran, value in sorted(wrong)]

    def facts(self, what: str) -> list[dict[str, Any]]:
        """Findings, as `{"code", "fields", "data"}`, of a task that did not come to its end or broke the rules.

        `what` says who was running, for example `the candidate tile=64`; the last `begin` event says at what.
        """
        begun = self.last("begin")
        doing = f"{what} ({begun['what']})" if begun else what
        tried = dict.fromkeys((event["code"], event["tried"]) for event in self.all("forbidden"))
        found = [_fact(code, what=what, tried=text) for code, text in list(tried)[:3]]
        if self.done:
            return found
        raised = self.last("raised")
        if self.stopped == "timeout":
            found.append(_fact("worker_timeout", what=doing, seconds=f"{self.limits['seconds']:g}"))
        elif self.stopped == "memory":
            found.append(_fact("worker_out_of_memory", what=doing, megabytes=self.limits["megabytes"]))
        elif self.stopped == "processes":
            found.append(
                _fact(
                    "worker_crashed", what=doing, signal=f"too many processes (the limit is {self.limits['processes']})"
                )
            )
        elif raised is not None:
            if raised.get("memory"):
                found.append(
                    _fact("worker_out_of_memory", what=doing, megabytes=self.limits["megabytes"], error=raised["error"])
                )
            elif _BREAKS_CONTEXT.search(raised["error"]):
                found.append(_fact("device_error", what=doing, error=raised["error"], line=raised.get("line")))
            else:
                found.append(
                    _fact(
                        "worker_raised",
                        what=doing,
                        error=raised["error"],
                        line=raised.get("line"),
                        traceback=raised.get("traceback", ""),
                    )
                )
        else:
            found.append(
                _fact("worker_crashed", what=doing, signal=_ending(self.exit_status), output=self.output_tail[-500:])
            )
        return found


def _fact(code: str, **fields: Any) -> dict[str, Any]:
    return {"code": code, "fields": fields, "data": {}, "severity": "error"}


def _ending(status: int) -> str:
    if status >= 0:
        return f"exit status {status} before it was done"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
