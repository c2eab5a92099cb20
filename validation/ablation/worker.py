"""`python -m skel.validation.ablation.worker`: works off cases of a bundle, to check or to time; started by `run`.

Writes a line a version to STATE/check.jsonl or STATE/time.jsonl as it goes; a line `begin` before what could end it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..environment import main as environment
from ..numerics.device import prepare as prepare_device
from ..protocol import Protocol
from ..timing.clocks import Clocks
from ..timing.prepared import figures
from ..timing.recording import Launch
from ..timing.timers import TIMERS
from .capture import Captured, capturing, marked_memory, rehearsing
from .cases import CASES, Case, Inputs
from .compiling import compile_ahead
from .equal import difference, left_behind, same_code, written
from .lines import Lines
from .standins import install
from .timed import NUMBERS, times
from .tuning import Tuning, few_of, plain
from .versions import Modules, Version, versions

Line = dict[str, Any]
SHAPES = 2
"""Cases in which a kernel is ablated; one where it is tuned, since then it is compiled most often."""


class TimeUp(Exception):
    """The deadline has passed; what is left is for another run."""


class Worker:
    """One process at work on cases."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given, self._state = given, Lines(given.state)
        self._plan = json.loads((given.bundle / "plan.json").read_text(encoding="utf-8"))
        self._deadline = time.monotonic() + given.seconds
        self._modules = Modules(given.work / "modules")
        self._tree = given.tree
        self._tuning = Tuning(given.work / "tuning.lock" if given.device == "cuda" else None)
        self._tuning.install()
        install(given.tree)
        prepare_device(given.device)
        self._timer = TIMERS[given.timer]()
        self._numbers = Protocol().override(NUMBERS)
        self._clocks = Clocks(given.device == "cuda")
        self._alive: Inputs | None = None
        """The inputs of the launches that were captured last."""
        self._target = "sm_90" if given.device == "cuda" else None

    def run(self) -> None:
        """Case by case, until time is up."""
        if self._given.phase == "time" and self._given.device == "cuda" and not self._state.all("session"):
            facts = environment({}, lambda *_, **__: None)
            self._state.add("session", environment=facts, timer=self._given.timer, at=time.time())
        for name in self._given.cases:
            if time.monotonic() > self._deadline:
                break
            if self._given.phase == "check" and not self._claim(name):
                continue
            begun = time.monotonic()
            try:
                (self._check if self._given.phase == "check" else self._time)(name)
            except TimeUp:
                print(f"{name}: time is up", flush=True)  # noqa: T201
                break
            except Exception as error:
                self._state.add(self._given.phase, case=name, error=_words(error))
                print(f"{name}: {_words(error)}", flush=True)  # noqa: T201
                traceback.print_exc()
                if "CUDA error" in str(error) or "illegal" in str(error):
                    sys.exit(1)
            else:
                self._state.add(self._given.phase, case=name, done=True)
            print(f"{self._given.phase} {name}: {time.monotonic() - begun:.1f} s", flush=True)  # noqa: T201

    def _claim(self, name: str) -> bool:
        """True for the first of several workers."""
        try:
            os.close(os.open(self._given.claims / name, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    # -- check -----------------------------------------------------------------------------------------------------

    def _check(self, name: str) -> None:
        self._rehearse(name)
        self._tuning.best()
        captured = {key: one for key, one in self._captured(name).items() if self._is_ours(name, key, one)}
        made = {key: list(self._versions(one)) for key, one in captured.items()}
        fresh = {key: [v for v in some if not self._known(name, key, v.name)] for key, some in made.items()}
        self._compile([version.launch for some in fresh.values() for version in some])
        for key, some in fresh.items():
            if some:
                self._check_kernel(name, key, captured[key], some)

    def _rehearse(self, name: str) -> None:
        """Compiles what the case will launch, in each configuration that will be tried."""
        if self._target is None:
            return
        self._tuning.first()
        try:
            with rehearsing(self._tree) as noted:
                self._call(CASES[name])
        except Exception as error:
            # Nothing was computed, so what the host did next may not make sense; what was noted is still of use.
            print(f"{name}: rehearsed up to {_words(error)}", flush=True)  # noqa: T201
        seen: dict[str, Launch] = {}
        for one in noted:
            for config in few_of(one.tuner) if one.tuner is not None else [None]:
                options = {**one.launch.options, **(config.all_kwargs() if config is not None else {})}
                plain_ones = sorted((k, str(v)) for k, v in options.items() if not hasattr(v, "data_ptr"))
                seen.setdefault(f"{one.launch.file}:{one.kernel}:{plain_ones}", replace(one.launch, options=options))
        self._compile(list(seen.values()))

    def _compile(self, launches: list[Launch]) -> None:
        compile_ahead(launches, self._given.work / "slots", self._given.processes, self._target, self._deadline)

    def _is_ours(self, case: str, key: str, one: Captured) -> bool:
        """True for the first cases that launch a kernel: what it does for others adds little."""
        folder = self._given.work / "kernels"
        name = kernel_name(self._file(one), one.kernel)
        for number in range(1 if one.tuner is not None else SHAPES):
            try:
                with open(folder / f"{name}@{number}", "x", encoding="utf-8") as file:
                    file.write(case)
                return True
            except FileExistsError:
                if (folder / f"{name}@{number}").read_text(encoding="utf-8") == case:
                    return True
        return False

    def _check_kernel(self, case: str, key: str, captured: Captured, some: list[Version]) -> None:
        about = {"case": case, "kernel": captured.kernel, "file": self._file(captured)}
        expected = left_behind(captured.recording, captured.launch, self._timer.synchronize)
        again = left_behind(captured.recording, captured.launch, self._timer.synchronize)
        steady = difference(again, expected, "bitwise", self._numbers.correctness)["equal"] == "bitwise"
        chosen = plain(captured.chosen) if captured.chosen is not None else None
        changed = written(captured.recording, captured.launch, expected)
        for version in some:
            if time.monotonic() > self._deadline:
                raise TimeUp
            said: Line = about | {"version": version.name, "technique": version.technique, "change": version.change}
            said |= {"numerics": version.numerics, "configuration": chosen, "deterministic": steady}
            said |= {"tensors_written": len(changed)}
            self._state.add("check", begin=True, **said)
            numerics = version.numerics if steady else "reassociated"
            self._state.add("check", **said, **self._judged(captured, version, expected, changed, numerics))

    def _judged(self, captured: Captured, version: Version, expected: Line, changed: list[str], numerics: str) -> Line:
        if not changed:
            return {"equal": "nothing written"}
        try:
            got = left_behind(captured.recording, version.launch, self._timer.synchronize)
        except Exception as error:
            if "CUDA error" in str(error) or "illegal" in str(error):
                raise
            return {"equal": "failed", "error": _words(error)}
        if same_code([captured.launch, version.launch]):
            return {"equal": "same code"}
        said = {"figures": {"expert": figures(captured.launch), "without": figures(version.launch)}}
        return said | difference(got, expected, numerics, self._numbers.correctness)

    def _known(self, case: str, key: str, version: str) -> bool:
        """True where it was checked before, or ended a worker."""
        return any(
            line["case"] == case and key.endswith(f":{line['kernel']}") and line["version"] == version
            for line in self._state.all("check")
            if "version" in line
        )

    # -- time ------------------------------------------------------------------------------------------------------

    def _time(self, name: str) -> None:
        checked = [line for line in self._state.all("check") if line["case"] == name and "equal" in line]
        fit = [line for line in checked if line["equal"] in ("bitwise", "close")]
        before = [line for line in self._state.all("time") if line["case"] == name and "kernel" in line]
        timed = {(line["kernel"], line["file"]) for line in before}
        self._tuning.given({line["kernel"]: line["configuration"] for line in checked if line["configuration"]})
        for captured in self._captured(name).values():
            file = self._file(captured)
            wanted = {line["version"] for line in fit if (line["kernel"], line["file"]) == (captured.kernel, file)}
            if not wanted or (captured.kernel, file) in timed:
                continue
            if time.monotonic() > self._deadline:
                raise TimeUp
            launches = {v.name: v.launch for v in self._versions(captured) if v.name in wanted}
            said = {"case": name, "kernel": captured.kernel, "file": file}
            self._state.add("time", begin=True, **said)
            begun = time.monotonic()
            found = times(captured, launches, self._timer, self._clocks, self._numbers, seed=0)
            self._state.add("time", **said, **found, seconds=round(time.monotonic() - begun, 2))
            words = " ".join(f"{version} {ratio['median']:.3f}" for version, ratio in found["ratio"].items())
            print(f"{name} {captured.kernel} {found['microseconds']['original']} us: {words}", flush=True)  # noqa: T201

    # -- both ------------------------------------------------------------------------------------------------------

    def _captured(self, name: str) -> dict[str, Captured]:
        """The first launch of every kernel of the bundle that the case makes. It was made before: tuning is done."""
        self._call(CASES[name])
        with capturing(self._tree) as found, marked_memory():
            self._alive = self._call(CASES[name])
        return {key: one for key, one in found.items() if self._kernel(one) is not None}

    def _call(self, case: Case) -> Inputs:
        inputs = Inputs(self._given.device, small=self._given.small)
        case(inputs)
        self._timer.synchronize()
        return inputs

    def _versions(self, captured: Captured) -> Iterator[Version]:
        kernel = self._kernel(captured)
        assert kernel is not None
        yield from versions(captured, kernel["inverses"], self._modules)

    def _kernel(self, captured: Captured) -> Line | None:
        found: Line | None = self._plan["files"].get(self._file(captured), {}).get("kernels", {}).get(captured.kernel)
        return found

    def _file(self, captured: Captured) -> str:
        return Path(captured.launch.file).relative_to(self._tree).as_posix()


def kernel_name(file: str, kernel: str) -> str:
    """A kernel's name among the files that say which cases are its own."""
    return f"{file}:{kernel}".replace("/", ".")


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[-1][:300] if str(error).strip() else ''}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m skel.validation.ablation.worker", description=__doc__)
    parser.add_argument("phase", choices=("check", "time"))
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--bundle", type=Path, required=True)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder that the workers of one run share")
    parser.add_argument("--claims", type=Path, help="folder in it for this round")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--timer", default="cuda graph")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    for name in ("modules", "kernels", "slots"):
        (given.work / name).mkdir(exist_ok=True)
    Worker(given).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
