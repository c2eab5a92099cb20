"""Compilations ahead of their launches, and which configurations a tuner tries."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skel.validation.ablation.tuning import Tuning, few_of, plain


def compiled(folder: Path, target: str) -> set[str]:
    """What came to its end of five launches, of which one fails and one takes five minutes."""
    command = [sys.executable, str(Path(__file__).with_name("compile_some.py")), str(folder), target, "15"]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    return {path.name for path in folder.iterdir()}


def test_one_that_fails_or_outlives_the_deadline_leaves_the_others_alone(tmp_path: Path) -> None:
    assert compiled(tmp_path, "sm_90") == {"slots", "0", "1", "2"}


def test_without_a_target_nothing_is_compiled(tmp_path: Path) -> None:
    assert compiled(tmp_path, "") == {"slots"}


def tuner(count: int) -> Any:
    configs = [SimpleNamespace(all_kwargs=lambda n=n: {"BV": n, "pre_hook": print}) for n in range(count)]
    return SimpleNamespace(every_config=configs, base_fn=SimpleNamespace(__name__="k"))


@pytest.mark.parametrize(("count", "tried"), [(1, [0]), (3, [0, 1, 2]), (9, [0, 4, 8])])
def test_a_few_configurations_are_tried(count: int, tried: list[int]) -> None:
    assert [plain(config) for config in few_of(tuner(count))] == [{"BV": number} for number in tried]


def test_the_configuration_that_was_chosen_before() -> None:
    tuning, one = Tuning(), tuner(9)
    tuning.best()
    assert len(tuning._candidates(one)) == 3
    for chosen, expected in (({"k": {"BV": 4}}, 4), ({"other": {"BV": 4}}, 0), ({"k": {"BV": 3}}, 0)):
        tuning.given(chosen)
        assert [plain(config) for config in tuning._candidates(one)] == [{"BV": expected}]
    tuning.first()
    assert [plain(config) for config in tuning._candidates(one)] == [{"BV": 0}]
