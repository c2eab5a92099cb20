"""`python -m skel.validation.timing.run PLAN --state DIR [--seconds N]`: measures on this machine's GPU.

Needs torch and triton, nothing else of skel's dependencies. May be cut off at any time and started again with the same
state: it goes on where it was. Exit status: 0 all measured, 75 time was up, 2 wrong use, 4 no GPU or no torch here.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ..isolation import WorkerError, Workers
from .plan import Plan, PlanError, read_plan
from .state import State, StateError
from .timers import TIMERS
from .work import Work, one_at_a_time

UNFINISHED = 75
FOREVER = 1e9


def measure(plan_path: Path, state_folder: Path, seconds: float = FOREVER) -> bool:
    """True where everything is measured. Raises PlanError, StateError, OSError, WorkerError."""
    return work_off(read_plan(plan_path), state_folder, seconds)


def work_off(
    plan: Plan, state_folder: Path, seconds: float = FOREVER, say: Callable[[str], None] | None = None
) -> bool:
    """True where everything is measured. `say` is told each task that ended; without it they go to stderr.

    Raises PlanError for an unknown timer, StateError, OSError, WorkerError.
    """
    if plan.numbers.timing.timer not in TIMERS:
        raise PlanError(f"there is no timer {plan.numbers.timing.timer!r}: {', '.join(TIMERS)}")
    deadline = time.monotonic() + seconds
    state = State(state_folder, plan.id)
    parallel = plan.numbers.timing.parallel_checks  # while anything is timed there is only one
    with one_at_a_time(), Workers("cuda", plan.numbers.isolation, parallel) as workers:
        workers.ready()
        return Work(plan, state, workers, deadline, say=say or _say).run()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m skel.validation.timing.run", description=__doc__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--state", type=Path, required=True, help="folder of the state file")
    parser.add_argument("--seconds", type=float, default=FOREVER, help="begin nothing that would end later")
    given = parser.parse_args()
    try:
        return 0 if measure(given.plan, given.state, given.seconds) else UNFINISHED
    except (PlanError, StateError, OSError) as error:
        _say(str(error))
        return 2
    except WorkerError as error:
        _say(str(error))
        return 4


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
