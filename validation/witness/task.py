"""Task `witness`: launches the kernels of one file alone, on small inputs, and reports what each launch shows.

Payload: subject, plans (a list a finding: the likeliest launch first), seconds (of one finding).
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from ..isolation.channel import Emit
from ..subject import Subject
from ..workloads import load_subject
from .asking import answer
from .launching import kernel_of


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """Reports `answered` for each finding, by number: what shows it, or why nothing does."""
    emit("begin", what="importing it")
    module = load_subject(Subject.from_dict(payload["subject"]), Path.cwd()).module
    signal.signal(signal.SIGALRM, _too_long)
    for number, plans in enumerate(payload["plans"]):
        emit("begin", what=f"{plans[0]['kernel']}, {plans[0]['question']}")
        shown, why = _first(module, plans, payload["seconds"] / len(plans))
        emit("answered", number=number, shown=shown, why=why)
    return {}


def _first(module: Any, plans: list[dict[str, Any]], seconds: float) -> tuple[dict[str, Any] | None, str | None]:
    """What the first plan shows that shows anything, or why none does: the first one's reason."""
    reasons = []
    for plan in plans:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            shown = answer(kernel_of(module, plan["kernel"]), plan)
        except Exception as error:
            reasons.append(f"it could not be launched alone: {_root(error)}")
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if shown is not None:
            return shown, None
        reasons.append("a small launch of it shows nothing wrong")
    return None, reasons[0]


def _root(error: BaseException) -> str:
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return f"{type(error).__name__}: {error}"[:200]


def _too_long(_signal: int, _frame: object) -> None:
    raise TimeoutError("it took too long")
