"""What evidence is worth today: by its verdict, by where it was measured, and by what has changed since."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skel.store.evidence_status import stale_because, status_of
from skel.store.schema import Environment, Evidence, Verdict

H200 = {"device": "NVIDIA H200", "architecture": "sm_90", "driver": "550.1", "triton": "3.6.0"}
CHANGES: list[tuple[dict[str, str], int]] = [
    ({}, 0),
    ({"triton": "3.6.1"}, 0),
    ({"triton": "3.7.0"}, 1),
    ({"driver": "560.2"}, 1),
    ({"architecture": "sm_100", "driver": "560.2"}, 2),
]


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (Verdict.FASTER, "reproduced"),
        (Verdict.IMPROVED, "reproduced"),
        (Verdict.NEUTRAL, "refuted"),
        (Verdict.SLOWER, "refuted"),
        (Verdict.WRONG, "refuted"),
        (Verdict.INCONCLUSIVE, "hypothesis"),
        (Verdict.EQUIVALENT, "hypothesis"),
    ],
)
def test_the_verdict_decides(measured: Callable[..., Evidence], verdict: Verdict, status: str) -> None:
    now = Environment(**H200)
    one = measured(verdict=verdict, level="timing", environment=now)
    assert status_of(one, now) == status


def test_a_source_cannot_reproduce_itself(measured: Callable[..., Evidence]) -> None:
    now = Environment(**H200)
    one = measured(verdict=Verdict.FASTER, level="timing", environment=now, file="lib/ops/norm.py")
    assert status_of(one, now, ["ops/norm.py"]) == "hypothesis"
    assert status_of(one, now, ["ops/other_norm.py", "rms_norm.py"]) == "reproduced"
    packaged = measured(verdict=Verdict.FASTER, level="timing", environment=now, file="lib==1.0:lib/ops/norm.py")
    assert status_of(packaged, now, ["lib/ops/norm.py"]) == "hypothesis"


@pytest.mark.parametrize(("change", "count"), CHANGES)
def test_what_makes_it_stale(measured: Callable[..., Evidence], change: dict[str, str], count: int) -> None:
    one = measured(verdict=Verdict.FASTER, level="timing", environment=Environment(**H200))
    now = Environment(**(H200 | change))
    assert len(stale_because(one, now)) == count
    assert (status_of(one, now) == "stale") == bool(count)


def test_what_is_not_known_has_not_changed(measured: Callable[..., Evidence]) -> None:
    one = measured(verdict=Verdict.FASTER, level="timing", environment=Environment(**H200))
    assert not stale_because(one, Environment(device="cpu (interpreter)", triton="3.6.2"))
    checked = measured(level="numerics", environment=Environment(**H200))
    assert not stale_because(checked, Environment(**(H200 | {"driver": "999"})))
