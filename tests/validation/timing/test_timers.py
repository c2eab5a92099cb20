"""Timers of the device with the device's part made by hand; CUPTI's interface with a library made by hand."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from skel.validation.protocol import Protocol
from skel.validation.timing import cupti
from skel.validation.timing.plan import PlanError
from skel.validation.timing.run import work_off
from skel.validation.timing.summary import summarise
from skel.validation.timing.timers import DECIDING, TIMERS, EventTimer, KernelTimer, Tampered

from .made import add_finals, plan_of, screened


class Library:
    """Answers as CUPTI does: every flush hands out a buffer with the kernels that were set to have run."""

    def __init__(self) -> None:
        self.kernels: list[tuple[int, int]] = []
        self.calls: list[str] = []

    def cuptiActivityRegisterCallbacks(self, requested: Any, completed: Any) -> int:
        self._requested, self._completed = requested, completed
        return 0

    def cuptiActivityEnable(self, kind: Any) -> int:
        self.calls.append(f"enable {kind.value}")
        return 0

    def cuptiActivityFlushAll(self, flag: Any) -> int:
        buffer, size, records = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t(7)
        self._requested(ctypes.byref(buffer), ctypes.byref(size), ctypes.byref(records))
        assert buffer.value and buffer.value % 8 == 0 and records.value == 0
        place, self._records = buffer.value, []
        for kind, (begin, end) in [(10, one) for one in self.kernels] + [(1, (0, 999))]:
            ctypes.c_uint32.from_address(place).value = kind
            ctypes.c_uint64.from_address(place + 16).value = begin
            ctypes.c_uint64.from_address(place + 24).value = end
            self._records.append(place)
            place += 64
        self.kernels = []
        self._completed(None, 0, buffer.value, size.value, 64 * len(self._records))
        return 0

    def cuptiActivityGetNextRecord(self, buffer: Any, valid: Any, record: Any) -> int:
        if not self._records:
            return 1
        record._obj.value = self._records.pop(0)
        return 0


def test_kernels_are_traced_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(cupti, "_library", lambda: library)
    trace = cupti.KernelTrace()
    assert library.calls == ["enable 10"] and trace.take() == []
    library.kernels = [(100, 350), (400, 420)]
    assert trace.take() == [(100, 350), (400, 420)] and trace.take() == []


def test_cupti_that_refuses_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    library.cuptiActivityEnable = lambda kind: 35  # type: ignore[method-assign,assignment]
    monkeypatch.setattr(cupti, "_library", lambda: library)
    with pytest.raises(OSError, match="cuptiActivityEnable answered 35"):
        cupti.KernelTrace()
    monkeypatch.undo()
    monkeypatch.setattr(cupti, "_LIBRARIES", ("libthere-is-none.so",))
    with pytest.raises(OSError, match="CUPTI is not here"):
        cupti.KernelTrace()


def test_kernel_time_leaves_gaps_out(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(cupti, "_library", lambda: library)
    timer = object.__new__(KernelTimer)
    timer._wait, timer._trace = lambda: None, cupti.KernelTrace()

    def replay() -> None:
        library.kernels = [(1000, 3000), (9000, 9500)]

    library.kernels = [(1, 999)]
    assert timer.seconds(replay) == pytest.approx(2.5e-6), "what ran before is not counted, nor the gap"
    with pytest.raises(Tampered):
        timer.seconds(lambda: None)


def test_events_keep_the_device_busy_while_the_host_enqueues() -> None:
    timer = object.__new__(EventTimer)
    now, slept = [0.0], []
    timer._wait, timer._clock, timer._cycles, timer._sleep = (lambda: None), (lambda: now[0]), {}, slept.append

    def step() -> None:
        now[0] += 1e-4

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            self.at = 0.0

    timer._event = Event
    timer._record = lambda event: setattr(event, "at", now[0])
    timer._elapsed = lambda begin, end: (end.at - begin.at) * 1e3
    replay = timer.capture([step] * 10)
    assert timer.seconds(replay) == pytest.approx(1e-3)
    assert slept[0] / 2e9 >= 1e-3, "longer than the ten launches take on the host"


def test_every_timer_has_its_name_and_only_those_of_the_device_decide(tmp_path: Path) -> None:
    assert Protocol().timing.timer == "cuda graph" and set(DECIDING) == set(TIMERS) - {"host clock"}
    for name in TIMERS:
        plan = plan_of("x")
        state = screened(tmp_path / name, plan, {"x": {"a": 2.0}}, timer=name)
        add_finals(state, "a", {"x": 2.0})
        made = summarise(plan, state)
        assert made["timer"] == name and made["verdict"] == ("faster" if name in DECIDING else "inconclusive")


def test_a_plan_for_a_timer_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="there is no timer 'sundial'"):
        work_off(plan_of("x", timer="sundial"), tmp_path)
