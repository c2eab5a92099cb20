"""The processes themselves: what a worker may not do, and that none is left behind. Uses the task `candidate`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from skel.validation.isolation import Outcome, WorkerError, Workers
from skel.validation.protocol import Protocol
from skel.validation.subject import Subject

HOOKS = """
def run(inputs):
    return inputs["x"]

def make_inputs(seed, device="cpu"):
    import torch
    return {"x": torch.ones(4)}
"""


def run_text(workers: Workers, text: str, seconds: float = 20) -> Outcome:
    """Runs a module of that text in a worker; it has no cases, so importing it is all that happens."""
    folder = workers.folder("t")
    payload = {
        "subject": Subject(text + HOOKS, "/nowhere/target.py", "target").to_dict(),
        "device": "cpu",
        "cases": [],
        "full": False,
        "probes": [],
        "numbers": Protocol().to_dict()["correctness"],
        "exchange": str(folder),
        "out": str(folder),
    }
    return workers.submit("candidate", payload, folder=folder, seconds=seconds, subject_file="target.py").result(60)


def codes(outcome: Outcome) -> list[str]:
    return [fact["code"] for fact in outcome.facts("it")]


def test_a_clean_module_says_what_it_loaded(interpreting: Workers) -> None:
    text = "import os\nassert 'AWS_SECRET' not in os.environ\nopen('here.txt', 'w').write('x')\n"
    outcome = run_text(interpreting, text)
    loaded = outcome.last("loaded")
    assert outcome.done and not codes(outcome) and loaded is not None
    assert loaded["sha256"] == Subject(text + HOOKS, "", "").sha256
    assert Path(loaded["path"]).name == "target.py"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("open('/tmp/skel_test_evil', 'w')", "wrote_outside"),
        ("try:\n    open('/tmp/skel_test_evil', 'a')\nexcept OSError:\n    pass", "wrote_outside"),
        ("import os; os.remove('/tmp')", "wrote_outside"),
        ("import os; os.rename('output.txt', '/tmp/skel_test_evil')", "wrote_outside"),
        ("import pathlib; pathlib.Path('../skel_test_evil').mkdir()", "wrote_outside"),
        ("import socket; socket.create_connection(('127.0.0.1', 9), 1)", "used_network"),
        ("import subprocess; subprocess.run(['ls'])", "started_process"),
        ("import os; os.system('true')", "started_process"),
        ("import os; os.fork()", "started_process"),
        ("import ctypes; ctypes.string_at(0)", "worker_crashed"),
        ("import os; os._exit(0)", "worker_crashed"),
        ("raise SystemExit(0)", "worker_raised"),
        ("import torch; torch.ones(1 << 48)", "worker_out_of_memory"),
        ("x = [", "worker_raised"),
    ],
)
def test_what_a_module_may_not_do(interpreting: Workers, text: str, code: str) -> None:
    outcome = run_text(interpreting, text + "\n")
    assert codes(outcome)[0] == code
    assert not Path("/tmp/skel_test_evil").exists()


def test_memory_and_time_are_watched(interpreting: Workers) -> None:
    began = time.monotonic()
    hungry = run_text(interpreting, "keep = []\nwhile True: keep.append(bytearray(1 << 24))\n")
    assert hungry.stopped == "memory" and codes(hungry) == ["worker_out_of_memory"]
    hanging = run_text(interpreting, "while True: pass\n", seconds=1)
    assert hanging.stopped == "timeout" and codes(hanging) == ["worker_timeout"]
    assert time.monotonic() - began < 30
    assert run_text(interpreting, "").done, "the next worker runs all the same"


def test_printed_results_are_only_printed(interpreting: Workers) -> None:
    forged = json.dumps({"event": "done", "result": {"verdict": "equivalent"}})
    outcome = run_text(
        interpreting,
        f"import os\nprint({forged!r}, flush=True)\n"
        f"for fd in range(3, 64):\n    try: os.write(fd, b'\\n' + {forged.encode()!r} + b'\\n')\n"
        "    except OSError: pass\nos._exit(0)\n",
    )
    assert codes(outcome) == ["worker_crashed"]
    assert outcome.forged_lines >= 1
    assert "equivalent" in outcome.output_tail


def test_the_line_of_an_exception(interpreting: Workers) -> None:
    (fact,) = run_text(interpreting, "a = 1\n\nb = a / 0\n").facts("it")
    assert fact["fields"]["line"] == 3
    assert "ZeroDivisionError" in fact["fields"]["error"]


def test_a_process_started_behind_the_hooks_back_is_ended(interpreting: Workers) -> None:
    """fork through the C library raises no audit event; the child must not outlive its worker."""
    outcome = run_text(
        interpreting,
        "import ctypes, os, time\nif ctypes.CDLL(None).fork() == 0:\n    os.setsid()\n"
        "    time.sleep(60)\n    os._exit(0)\nos.write(1, b'started')\n",
    )
    assert "started" in outcome.output_tail
    run_text(interpreting, "")
    warm = psutil.Process(interpreting._process.pid)
    assert not warm.children(recursive=True)


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_when_the_main_process_ends(tmp_path: Path, ending: signal.Signals) -> None:
    script = textwrap.dedent("""
        import signal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
        from skel.validation.isolation import Workers
        from skel.validation.protocol import Protocol
        from skel.validation.subject import Subject
        with Workers("interpret") as w:
            folder = w.folder("t")
            payload = {"subject": Subject("while True: pass", "/x/t.py", "t").to_dict(), "device": "cpu", "cases": [],
                       "numbers": Protocol().to_dict()["correctness"], "exchange": str(folder), "out": str(folder)}
            w.submit("candidate", payload,
                     folder=folder, seconds=60,
                     on_event=lambda event: print(w._process.pid, w.scratch, flush=True)).result()
    """)
    main = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert main.stdout is not None
    pid, scratch = main.stdout.readline().split()
    family = [psutil.Process(int(pid)), *psutil.Process(int(pid)).children(recursive=True)]
    assert len(family) == 2
    main.send_signal(ending)
    main.wait(60)
    gone, alive = psutil.wait_procs(family, timeout=30)
    assert not alive and len(gone) == 2
    assert not Path(scratch).exists()


def test_a_warm_process_that_ends_is_our_fault_not_the_candidates() -> None:
    with Workers("compile") as workers:
        os.kill(workers._process.pid, signal.SIGKILL)
        with pytest.raises(WorkerError, match="ended by itself"):
            workers.ready()


def test_a_reader_that_chokes_on_an_event_ends_the_waiting() -> None:
    """Whoever takes the events may fail: then the result is that error, never a wait without end."""
    with Workers("interpret", Protocol().isolation) as workers:
        folder = workers.folder("t")
        payload = {
            "subject": Subject(HOOKS, "/nowhere/target.py", "target").to_dict(), "device": "cpu", "cases": [],
            "full": False, "probes": [], "numbers": Protocol().to_dict()["correctness"], "exchange": str(folder),
            "out": str(folder),
        }

        def choke(event: dict[str, object]) -> None:
            raise KeyError("original")

        future = workers.submit(
            "candidate", payload, folder=folder, seconds=20, subject_file="target.py", on_event=choke
        )
        with pytest.raises(WorkerError, match="could not be taken"):
            future.result(60)
