"""What the tools do where there is a GPU: one measurement at a time, and what a slower version is told. The GPU is
pretended, and so are its times; everything else is as it is."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import skel.bench
import skel.gpu
from skel.agent import gpu_lock, jobs, runner
from skel.agent.errors import CallError
from skel.agent.feedback.figures import figures
from skel.agent.gpu_lock import GpuLock
from skel.agent.session import Session
from skel.store.jobs import claim_next, end_job, get_job
from skel.validation.bench import BenchResult, read_bench
from skel.validation.timing.lock import open_lock
from skel.validation.timing.plan import Plan
from skel.validation.timing.work import one_at_a_time
from tests.agent.calling import Place, code_of, do
from tests.agent.kernels import SCALE
from tests.validation.timing.made import add_finals, screened

SOON, LONG = 0.3, 60.0


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Pretend that there is a GPU."""
    for module in (skel.gpu, skel.bench, gpu_lock, jobs):
        monkeypatch.setattr(module, "gpu_names", lambda: ("GPU 0: pretended",))
    monkeypatch.setattr(skel.gpu, "architecture", lambda: "sm_90")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@contextmanager
def elsewhere(hold: Any) -> Iterator[threading.Event]:
    """Take the lock that `hold` gives in a thread of its own; the event tells that it has it."""
    has = threading.Event()

    def take() -> None:
        with hold():
            has.set()

    thread = threading.Thread(target=take)
    thread.start()
    try:
        yield has
    finally:
        thread.join(LONG)


@pytest.mark.parametrize("second", ["a job", "the command line"])
def test_a_job_and_any_other_measurement_wait_for_each_other(gpu: None, second: str) -> None:
    told: list[str] = []
    other = GpuLock.opened()
    hold = (lambda: other.held(lambda: told.append("waits"))) if second == "a job" else one_at_a_time
    with GpuLock.opened().held(lambda: told.append("first")):
        waiting = elsewhere(hold)
        has = waiting.__enter__()
        assert not has.wait(SOON)
    assert has.wait(LONG)
    waiting.__exit__(None, None, None)
    assert told == (["waits"] if second == "a job" else [])


def test_a_measurement_within_a_job_does_not_wait_for_the_job(
    gpu: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "scratch").mkdir()
    with GpuLock.opened().held(lambda: None):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))  # as skel.agent.child does
        with elsewhere(one_at_a_time) as has:
            assert has.wait(LONG)


def test_without_a_gpu_nothing_is_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_lock, "gpu_names", lambda: ())
    lock = GpuLock.opened()
    with lock.held(pytest.fail), lock.held(pytest.fail):
        pass


def test_another_users_lock_is_waited_for_as_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened, ways = os.open, []

    def refuse_writing(path: Any, flags: int, *mode: int) -> int:
        ways.append(flags)
        if flags & os.O_RDWR:
            raise PermissionError(13, "not yours", str(path))
        return opened(path, flags, *mode)

    os.close(open_lock())
    monkeypatch.setattr(os, "open", refuse_writing)
    first = open_lock()
    assert len(ways) == 2
    fcntl.flock(first, fcntl.LOCK_EX)
    with pytest.raises(BlockingIOError):
        fcntl.flock(open_lock(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(first)


def test_on_a_gpu_no_second_process_is_started_for_what_waits(
    gpu: None, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []

    class Running:
        def poll(self) -> None:
            return None

    monkeypatch.setattr(jobs, "start_runner", lambda url: started.append(url) or Running())
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.0)
    queued(session)
    for _ in range(3):
        session.dispatcher.look_after()
    assert len(started) == 1


def queued(session: Session) -> str:
    """A benchmark in the queue."""
    given = {"original": "kda_decode.py", "candidate": "gated_norm.py", "wait_seconds": 0}
    answer = session.call("benchmark", given).model_dump()
    assert answer["state"] == "queued" and answer["next"][0]["tool"] == "get_job"
    return str(answer["job"])


def test_on_a_gpu_one_job_runs_at_a_time_and_one_that_waits_says_so(
    gpu: None, idle: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queued(idle)
    seen: list[Any] = []
    ran: list[str] = []

    def claim(database: Any, pid: int, own: int, most: int, is_alive: Any) -> Any:
        seen.append(most)
        return claim_next(database, pid, own, most, is_alive)

    def run(database: Any, taken: Any) -> None:
        ran.append(taken.id)
        end_job(database, taken.id, "done", {"summary": "x"})

    monkeypatch.setattr(runner, "claim_next", claim)
    monkeypatch.setattr(runner, "_run", run)
    monkeypatch.setattr(runner.sys, "argv", ["runner", idle.database.url])
    with GpuLock.opened().held(lambda: None):
        thread = threading.Thread(target=runner.main)
        thread.start()
        for _ in range(200):
            if (found := get_job(idle.database, job, idle.roots.names)).progress:
                break
            thread.join(SOON)
        assert found.state == "running" and found.progress is not None
        assert "another measurement holds the GPU" in found.progress["message"] and ran == []
    thread.join(LONG)
    assert ran == [job] and set(seen) == {1}


def test_a_job_cancelled_while_it_waits_is_not_begun(
    gpu: None, idle: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queued(idle)
    monkeypatch.setattr(runner, "_run", lambda database, taken: pytest.fail("it was begun"))
    monkeypatch.setattr(runner.sys, "argv", ["runner", idle.database.url])

    @contextmanager
    def held(self: GpuLock, waiting: Any) -> Iterator[None]:
        waiting()
        end_job(idle.database, job, "cancelled")
        yield

    monkeypatch.setattr(GpuLock, "held", held)
    runner.main()
    assert get_job(idle.database, job, idle.roots.names).state == "cancelled"


def test_a_gpu_that_is_gone_when_the_job_begins_is_told(idle: Session, tmp_path: Path) -> None:
    given = {"original": "kda_decode.py", "candidate": "kda_decode.py"}
    if not skel.gpu.gpu_names():
        assert code_of(idle, "benchmark", given) == "not_here"
        with pytest.raises(CallError) as raised:
            do(idle, "benchmark", tmp_path, **given)
        assert raised.value.code == "not_here" and "no GPU" in raised.value.message and raised.value.hint


@pytest.mark.slow
@pytest.mark.parametrize(("ratio", "verdict"), [(0.8, "slower"), (1.5, "faster")])
def test_a_slower_version_is_told_what_changed(
    gpu: None, idle: Session, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ratio: float, verdict: str
) -> None:
    (place.root / "scale.py").write_text(SCALE)
    slow = SCALE.replace("B=B)", "B=B, num_warps=8)").replace(
        "    tl.store(", "    result += tl.sum(tl.exp(result)) * 1e-9\n    tl.store("
    )
    (place.root / "slow.py").write_text(slow)

    def measured(plan: Plan, state: str | None, report: Any) -> BenchResult:
        report("timing", {"done": "time_final in 1.0 s slow.py"})
        (tmp_path / "state").mkdir()
        timed = screened(tmp_path / "state", plan, {"slow.py": {"small": ratio}})
        add_finals(timed, "small", {"slow.py": ratio})
        return read_bench(plan, tmp_path / "state")

    monkeypatch.setattr(skel.bench, "measure_here", measured)
    worked = do(idle, "benchmark", tmp_path, original="scale.py", candidate="slow.py")
    assert worked.verdict == verdict and worked.result["timed"]
    assert worked.result["workloads"][0]["ratio"]["cold"]["median"] == pytest.approx(ratio, rel=0.05)
    told = [one for one in worked.findings if one["code"] == "figures_changed"]
    assert len(told) == (verdict == "slower")
    if told:
        assert told[0]["severity"] == "warning" and told[0]["measured"] == "compile sm_90"
        assert told[0]["data"]["num_warps"] == {"original": 4, "candidate": 8}
        assert {"shuffles", "warp_global_accesses"} <= set(told[0]["data"]), told[0]["message"]
        assert told[0]["hint"] and told[0]["cost"] and told[0]["compared_with"]


@pytest.mark.slow
def test_where_every_candidate_lost_it_is_said_what_changed_and_none_is_tried_again(
    gpu: None, idle: Session, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.root / "scale.py").write_text(SCALE)

    def measured(plan: Plan, state: str | None, report: Any) -> BenchResult:
        (tmp_path / "state").mkdir()
        names = [one.name for one in plan.candidates]
        ratios = {name: 0.8 - 0.01 * number for number, name in enumerate(names)}
        timed = screened(tmp_path / "state", plan, {name: {"small": ratio} for name, ratio in ratios.items()})
        add_finals(timed, "small", ratios)
        return read_bench(plan, tmp_path / "state")

    monkeypatch.setattr(skel.bench, "measure_here", measured)
    worked = do(idle, "apply_skeleton", tmp_path, skeleton="div_to_reciprocal", file="scale.py")
    assert worked.verdict == "slower" and worked.result["out"] is None
    tools = [one["tool"] for one in worked.next]
    assert tools[0] == "add_evidence" and "scan_kernel" in tools and "apply_skeleton" not in tools
    (told,) = [one for one in worked.findings if one["code"] == "figures_changed"]
    assert told["severity"] == "warning" and told["message"].startswith(worked.result["candidates"][0]["name"])


def test_traffic_counts_the_warps_of_all_programs() -> None:
    counts = {"global_loads": 3, "global_stores": 1, "shuffles": 9}
    plain = dict.fromkeys(("spill_bytes", "stack_bytes", "shared_memory_bytes"), 0)
    kernel = {"kernel": "k", "registers": 32, "num_warps": 2, "programs": 10, "instructions": counts, **plain}
    assert figures({"target": "sm_90", "kernels": [kernel]}, "k")["warp_global_accesses"] == 4 * 2 * 10
