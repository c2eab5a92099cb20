"""How autotuners choose while kernels are ablated: the first configuration, the best of a few, or one given before."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CONFIGURATIONS = 3
"""Most configurations that a tuner tries here, spread over those it has, the first among them."""
MILLISECONDS = {"warmup": 2, "rep": 10}
"""A configuration."""

Choice = dict[str, Any]
"""A configuration as plain values."""


class Tuning:
    """Every autotuner that is made after `install` chooses by it."""

    def __init__(self, lock: Path | None = None) -> None:
        self._lock = lock
        self._given: dict[str, Choice] = {}
        self._mode = "first"

    def install(self) -> None:
        """For the rest of this process."""
        from triton.runtime.autotuner import Autotuner

        make, run = Autotuner.__init__, Autotuner.run

        def made(tuner: Any, *args: Any, **kwargs: Any) -> None:
            make(tuner, *args, **kwargs)
            tuner.every_config, tuner.cache_results = list(tuner.configs), False

        def chosen(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            tuner.configs = self._candidates(tuner)
            if getattr(tuner, "skel_mode", None) != self._mode:
                tuner.skel_mode = self._mode
                tuner.cache.clear()
            return run(tuner, *args, **kwargs)

        Autotuner.__init__, Autotuner.run = made, chosen
        # Defined on the class, as the tuner's own is, and looked up before what an instance keeps.
        Autotuner.do_bench = property(lambda tuner: self._bench, lambda tuner, value: None)

    def first(self) -> None:
        """From now on the first configuration."""
        self._mode = "first"

    def best(self) -> None:
        """From now on the best of a few."""
        self._mode = "best"

    def given(self, choices: dict[str, Choice]) -> None:
        """From now on the configuration given for a kernel's name; the first where there is none."""
        self._mode, self._given = "given", choices

    def _candidates(self, tuner: Any) -> list[Any]:
        few = few_of(tuner)
        if self._mode == "best":
            return few
        wanted = self._given.get(tuner.base_fn.__name__) if self._mode == "given" else None
        return [next((config for config in few if plain(config) == wanted), few[0])]

    def _bench(self, call: Callable[[], Any], quantiles: Any) -> Any:
        from triton.testing import do_bench

        with self._alone():
            return do_bench(call, quantiles=quantiles, **MILLISECONDS)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else tunes meanwhile."""
        if self._lock is None:
            yield
            return
        with open(self._lock, "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def few_of(tuner: Any) -> list[Any]:
    """The configurations that are tried, the first and the last among them."""
    values: list[Any] = tuner.every_config
    if len(values) <= CONFIGURATIONS:
        return values
    return [values[round(number * (len(values) - 1) / (CONFIGURATIONS - 1))] for number in range(CONFIGURATIONS)]


def plain(config: Any) -> Choice:
    """A configuration as JSON can hold it."""
    return {key: value for key, value in config.all_kwargs().items() if isinstance(value, (int, float, str, bool))}
