"""Replays calls of a capture with the original module and with rewritten ones: a process of its own.

`python -m tests.gauntlet.replaying interpret|compile < JOB > LINES`. A job is one JSON document: `capture`, `module`,
`calls`, and `variants` (name, text, approximate, and the calls it may be judged by). Each line says what came of one
text: `equal`, `close`, `differs`, `bounds`, `error`, `slow`, or of a compilation `compiled` or `failed`.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import tempfile
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.random_kernels.interpreting import Memory, OutOfBounds, guard_interpreter

from .sidecars import run_texts
from .workloads.calling import prepare

SECONDS = 150
"""CPU time of one call."""
CLOSE, APPROXIMATE = 5e-5, 2e-3
"""Relative to the largest magnitude of an output, in single precision."""
ROUGH = {"float16": 4e-3, "bfloat16": 3e-2}
"""At least, for outputs in half precision: a few units in the last place."""


UNSET = 0.0
"""What masked lanes without `other` hold: what GPUs give, and what some of these kernels count on."""


class Late(Exception):
    """A call took more than SECONDS."""


def die_with_parent() -> None:
    """Ends this process when the one that started it ends, so that nothing goes on after a run that was ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def tensors_in(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every tensor in a result or an argument, by where it stands."""
    if hasattr(value, "untyped_storage"):
        yield name, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from tensors_in(one, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for key, one in enumerate(value):
            yield from tensors_in(one, f"{name}.{key}")


def load(text: str, module: str, folder: str, number: int) -> None:
    """Puts a text in the place of an imported module."""
    old = sys.modules[module]
    path = Path(folder) / f"variant_{number}.py"
    path.write_bytes(text.encode())
    made = types.ModuleType(module)
    made.__file__, made.__package__, made.__spec__ = str(path), old.__package__, old.__spec__
    sys.modules[module] = made
    exec(compile(text, str(path), "exec", dont_inherit=True), made.__dict__)


class Replays:
    """The calls of a job, made again with whatever module is in place."""

    def __init__(self, job: dict[str, Any]) -> None:
        from skel.validation.workloads.capture.archive import Capture
        from skel.validation.workloads.capture.replay import Replay

        self.calls: list[int] = job["calls"]
        self._replay = Replay(Capture(Path(job["capture"])), job["module"], self.calls)

    def outputs(self, call: int) -> dict[str, Any]:
        """What a call returns and what it leaves of its arguments."""
        inputs = self._replay.make_inputs(0, call=str(call))
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            result = self._replay.run(inputs)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        found = [*tensors_in(inputs, "input"), *tensors_in(result, "output")]
        return {name: one.detach().clone() for name, one in found}


def difference(found: dict[str, Any], wanted: dict[str, Any], limit: float) -> tuple[str, str]:
    """A word and a reason."""
    import torch

    if found.keys() != wanted.keys():
        return "differs", f"outputs {sorted(found)}"
    worst, reason = "equal", ""
    for name, b in wanted.items():
        a = found[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            return "differs", f"{name}: {tuple(a.shape)} {a.dtype} against {tuple(b.shape)} {b.dtype}"
        if torch.equal(a, b) or not a.numel():
            continue
        if not a.is_floating_point():
            return "differs", f"{name}: {int((a != b).sum())} integers"
        left, right = a.double(), b.double()
        if not torch.equal(torch.isfinite(left), torch.isfinite(right)):
            return "differs", f"{name}: not finite in other places"
        finite = torch.isfinite(right)
        if not finite.any():
            continue
        scale = right[finite].abs().max().clamp_min(1e-30)
        error = float(((left - right)[finite].abs().max() / scale).item())
        if error > max(limit, ROUGH.get(str(a.dtype).removeprefix("torch."), 0.0)):
            return "differs", f"{name}: relative error {error:.2g} in {int((left != right).sum())} of {left.numel()}"
        if error:
            worst, reason = "close", f"{name}: {error:.1g}"
    return worst, reason


def failed(error: BaseException) -> tuple[str, str]:
    """`bounds` where an access left every tensor, `slow` where a call took too long, else `error`."""
    chain: BaseException | None = error
    while chain is not None:
        if isinstance(chain, OutOfBounds):
            return "bounds", str(chain)
        if isinstance(chain, Late):
            return "slow", str(chain)
        chain = chain.__cause__ or chain.__context__
    return "error", f"{type(error).__name__}: {error}"[:400]


def interpret(job: dict[str, Any], say: Any) -> None:
    """The original forwards and with its programs in the opposite order, then each variant."""
    import torch

    torch.set_num_threads(1)
    memory = Memory()
    importlib.import_module(job["module"])
    guard_interpreter(memory, UNSET)
    replays = Replays(job)
    wanted: dict[int, dict[str, Any]] = {}
    for call in replays.calls:
        if f"original:{call}" in job["skip"]:
            continue
        try:
            wanted[call] = replays.outputs(call)
            memory.backwards = True
            word, why = difference(replays.outputs(call), wanted[call], CLOSE)
        except Exception as error:
            word, why = failed(error)
        finally:
            memory.backwards = False
        if word not in ("equal", "close"):
            wanted.pop(call, None)
            word = "racy" if word == "differs" else word
        say({"text": f"original:{call}", "is": word, "why": why})
    original = sys.modules[job["module"]]
    with tempfile.TemporaryDirectory() as folder:
        for number, variant in enumerate(job["variants"]):
            if variant["name"] in job["skip"]:
                continue
            order, worst = ["equal", "close", "error", "bounds", "differs"], ("", "no call can judge it")
            judged = [c for c in variant["calls"] if c in wanted]
            try:
                load(variant["text"], job["module"], folder, number)
                for call in judged:
                    limit = APPROXIMATE if variant["approximate"] else CLOSE
                    said = difference(replays.outputs(call), wanted[call], limit)
                    worst = max(worst, said, key=lambda pair: order.index(pair[0]) if pair[0] else -1)
            except Exception as error:
                worst = failed(error)
            finally:
                sys.modules[job["module"]] = original
            say({"text": variant["name"], "is": worst[0] or "unjudged", "why": worst[1], "calls": judged})


@contextmanager
def standing_in(target: str) -> Iterator[None]:
    """A driver for `target` while something is launched, and only then: packages ask for one to look for a GPU."""
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    from skel.validation.compile.stub_driver import StubDriver

    run, stub = JITFunction.run, StubDriver(target)

    def with_driver(self: Any, *args: Any, **kwargs: Any) -> Any:
        before, driver._active = driver._active, stub
        try:
            return run(self, *args, **kwargs)
        finally:
            driver._active = before

    JITFunction.run = with_driver
    try:
        yield
    finally:
        JITFunction.run = run


def compile_all(job: dict[str, Any], say: Any) -> None:
    """Compiles every launch of the calls for sm_90, with the original and with each variant."""
    from skel.validation.compile.launches import compiling
    from skel.validation.compile.task import _from_compiler

    importlib.import_module(job["module"])
    replays = Replays(job)
    original = sys.modules[job["module"]]
    good: list[int] = []

    def compiled(call: int) -> tuple[str, str]:
        with compiling(True) as launches, standing_in("sm_90"):
            try:
                replays.outputs(call)
            except Late as late:
                return "slow", str(late)
            except Exception as error:
                if not launches or _from_compiler(error):
                    return "failed", f"{type(error).__name__}: {error}"[:400]
        return "compiled", ", ".join(dict.fromkeys(launch.kernel for launch in launches))

    for call in replays.calls:
        if f"original:{call}" in job["skip"]:
            continue
        word, why = compiled(call)
        good += [call] if word == "compiled" else []
        say({"text": f"original:{call}", "is": word, "why": why})
    with tempfile.TemporaryDirectory() as folder:
        for number, variant in enumerate(job["variants"]):
            if variant["name"] in job["skip"]:
                continue
            said = ("unjudged", "the original does not compile")
            try:
                load(variant["text"], job["module"], folder, number)
                for call in (c for c in good if c in variant["calls"]):
                    said = compiled(call)
                    if said[0] != "compiled":
                        break
            except Exception as error:
                said = ("failed", f"{type(error).__name__}: {error}"[:400])
            finally:
                sys.modules[job["module"]] = original
            say({"text": variant["name"], "is": said[0], "why": said[1]})


def main() -> None:
    die_with_parent()
    job = json.load(sys.stdin)

    def late(_signal: int, _frame: object) -> None:
        raise Late(f"over {SECONDS} s")

    signal.signal(signal.SIGVTALRM, late)
    out = os.dup(1)
    os.dup2(2, 1)
    prepare()
    with os.fdopen(out, "w") as results:

        def say(one: dict[str, Any]) -> None:
            results.write(json.dumps(one) + "\n")
            results.flush()

        if "subject" in job:
            import torch

            torch.set_num_threads(1)
            run_texts(job, sys.argv[1], say)
        else:
            (interpret if sys.argv[1] == "interpret" else compile_all)(job, say)


if __name__ == "__main__":
    main()
