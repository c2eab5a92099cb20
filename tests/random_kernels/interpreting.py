"""Runs texts in Triton's interpreter, many in one process, and compares each with the first: a process of its own.

Reads one JSON document a line (`Job`), writes one a line (`Ran`). Every access is checked against the memory of the
launch's tensors before it happens, so a kernel that runs past them is reported and cannot damage the process. Masked
lanes of a load without `other` hold a known odd number, since nothing says what they hold. Programs run in the order
of the grid, and for the first text in the opposite order as well: where that changes a result, the kernel is racy.
Nothing is timed: of an autotuned kernel the first configuration runs, the others in the opposite order, and of a
candidate the last one, so that a configuration that a rewrite adds is run too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
UNDEFINED = 7.25
"""What masked lanes hold where the kernel gives no `other`."""
CLOSE = 2e-5
"""Relative to the largest magnitude of an output: what another order of a sum may change in float32."""
APPROXIMATE = 3e-4
"""The same, of candidates that compute a function in another way: see `Job.approximate`."""
SECONDS = 60
"""For one text on one workload."""


@dataclass
class Job:
    """One kernel: the original and its candidates by name, all whole files with the hooks of a target file."""

    name: str
    original: str
    candidates: dict[str, str]
    seeds: tuple[int, ...] = (0,)
    approximate: tuple[str, ...] = ()
    """Candidates whose numerics class is `approximate`."""


@dataclass
class Ran:
    """What came of a job. Of each candidate one word, and what it differs in: `equal`, `close`, `differs`, `bounds`
    (an access past a tensor), `error`."""

    name: str
    original: str = "equal"
    """`equal`, `racy`, `bounds` or `error`: whether the original can be judged by."""
    why: str = ""
    candidates: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


class OutOfBounds(Exception):
    """A lane of an access lay outside every tensor of its launch."""


def interpret(jobs: Iterable[Job], processes_seconds: int = 1200) -> Iterator[Ran]:
    """Run the jobs in one process of its own. Raises RuntimeError where it dies."""
    waiting = list(jobs)
    results, death = interpret_some(waiting, processes_seconds)
    if death is not None:
        raise RuntimeError(death)
    yield from results


def interpret_some(jobs: Sequence[Job], processes_seconds: int = 1200) -> tuple[list[Ran], str | None]:
    """Run the jobs in one process of its own: what came of the first of them, and how the process died, if it did."""
    lines = "".join(json.dumps(asdict(job)) + "\n" for job in jobs)
    places = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(places)}
    environment = os.environ | environment
    done = subprocess.run(
        [sys.executable, "-m", "tests.random_kernels.interpreting"],
        input=lines,
        text=True,
        capture_output=True,
        cwd=ROOT,
        env=environment,
        timeout=processes_seconds,
    )
    results = [Ran(**json.loads(line)) for line in done.stdout.splitlines() if line.endswith("}")]
    if done.returncode:
        return results, f"the interpreting process ended with {done.returncode}: {done.stderr[-2000:]}"
    return results, None


# -- in the process -----------------------------------------------------------------------------------------------


class Memory:
    """Ranges of addresses that the running launch may touch."""

    def __init__(self) -> None:
        self.starts: Any = None
        self.ends: Any = None
        self.backwards = False
        self.configuration = 0
        """Which configuration of an autotuned kernel is run."""
        self.configurations = 1
        """The most that an autotuned kernel of the file had."""

    def allow(self, tensors: Iterable[Any]) -> None:
        import numpy

        storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
        pairs = sorted(storages.items())
        self.starts = numpy.array([a for a, _ in pairs], dtype=numpy.uint64)
        self.ends = numpy.array([a + n for a, n in pairs], dtype=numpy.uint64)

    def check(self, pointers: Any, mask: Any, width: int, what: str) -> None:
        import numpy

        active = numpy.asarray(pointers, dtype=numpy.uint64)[numpy.asarray(mask, dtype=bool)]
        if not active.size:
            return
        place = numpy.searchsorted(self.starts, active, side="right") - 1
        good = (place >= 0) & (active + numpy.uint64(width) <= self.ends[numpy.maximum(place, 0)])
        if not good.all():
            raise OutOfBounds(f"{int((~good).sum())} lanes of a {what} lie outside every tensor")


def guard_interpreter(memory: Memory, undefined: float = UNDEFINED) -> None:
    """Checks every access of the interpreter against `memory`; `undefined` is what unset masked lanes hold."""
    import numpy
    import triton.runtime.interpreter as interpreter
    from triton.runtime.interpreter import GridExecutor, InterpreterBuilder, TensorHandle

    def masked_load(self, ptrs, mask, other, *_modifiers):  # type: ignore[no-untyped-def]
        dtype = ptrs.get_element_ty()
        kind = interpreter._get_np_dtype(dtype)
        memory.check(ptrs.data, mask.data, numpy.dtype(kind).itemsize, "load")
        if other is None:
            fill = undefined if numpy.issubdtype(kind, numpy.floating) else int(undefined) and 3
            other = TensorHandle(numpy.full_like(ptrs.data, fill, dtype=kind), dtype)
        return TensorHandle(interpreter._interpreter.load(ptrs.data, mask.data, other.data, kind), dtype)

    def masked_store(self, ptrs, value, mask, cache_modifier, eviction_policy):  # type: ignore[no-untyped-def]
        memory.check(ptrs.data, mask.data, value.data.dtype.itemsize, "store")
        return interpreter._interpreter.store(ptrs.data, value.data, mask.data)

    add = InterpreterBuilder.create_atomic_rmw

    def atomic(self, operation, ptr, val, mask, sem, scope):  # type: ignore[no-untyped-def]
        memory.check(ptr.data, mask.data, val.data.dtype.itemsize, "atomic")
        return add(self, operation, ptr, val, mask, sem, scope)

    place = InterpreterBuilder.set_grid_idx

    def set_place(self, x, y, z):  # type: ignore[no-untyped-def]
        if memory.backwards:
            x, y, z = (n - 1 - i for n, i in zip(self.grid_dim, (x, y, z), strict=True))
        place(self, x, y, z)

    arguments = GridExecutor._init_args_hst

    def host_arguments(self, args_dev, kwargs):  # type: ignore[no-untyped-def]
        args, named = arguments(self, args_dev, kwargs)
        memory.allow(a for a in (*args, *named.values()) if hasattr(a, "untyped_storage"))
        return args, named

    InterpreterBuilder.create_masked_load = masked_load
    InterpreterBuilder.create_masked_store = masked_store
    InterpreterBuilder.create_atomic_rmw = atomic
    InterpreterBuilder.set_grid_idx = set_place
    GridExecutor._init_args_hst = host_arguments


def choose_configurations(memory: Memory) -> None:
    """Autotuned kernels run with the configuration that `memory` says, and time nothing."""
    from triton.runtime.autotuner import Autotuner

    def tuned(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        memory.configurations = max(memory.configurations, len(self.configs))
        return self.fn.run(*args, **kwargs, **self.configs[memory.configuration].all_kwargs())

    Autotuner.run = tuned


def _outputs(module: Any, workload: dict[str, Any], seed: int) -> dict[str, Any]:
    """Everything a run leaves behind: what it returns, and its inputs."""
    arguments = {k: v for k, v in workload.items() if k != "name"}
    inputs = module.make_inputs(seed, **arguments)
    found = module.run(inputs)
    outputs = found if isinstance(found, dict) else dict(enumerate(found if isinstance(found, tuple) else (found,)))
    return {
        **{f"input {k}": v.clone() for k, v in inputs.items() if hasattr(v, "clone")},
        **{str(k): v.clone() for k, v in outputs.items()},
    }


def _difference(found: dict[str, Any], wanted: dict[str, Any], limit: float = CLOSE) -> tuple[str, str]:
    import torch

    worst = "equal"
    reason = ""
    if found.keys() != wanted.keys():
        return "differs", f"outputs {sorted(found)}"
    for name, b in wanted.items():
        a = found[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            return "differs", f"{name}: {tuple(a.shape)} {a.dtype} against {tuple(b.shape)} {b.dtype}"
        if torch.equal(a, b) or (a.is_floating_point() and torch.equal(a.nan_to_num(3e37), b.nan_to_num(3e37))):
            continue
        if not a.is_floating_point():
            return "differs", f"{name}: {int((a != b).sum())} integers"
        left, right = a.double(), b.double()
        if not torch.equal(torch.isfinite(left), torch.isfinite(right)):
            return "differs", f"{name}: not finite in other places"
        scale = right[torch.isfinite(right)].abs().max().clamp_min(1e-30)
        error = ((left - right).nan_to_num(0.0, 0.0, 0.0).abs().max() / scale).item()
        if error > limit:
            return "differs", f"{name}: relative error {error:.2g} in {int((left != right).sum())} of {left.numel()}"
        worst, reason = "close", f"{name}: {error:.1g}"
    return worst, reason


def _load(text: str, folder: str, number: int) -> Any:
    import types

    path = Path(folder) / f"kernel_{number}.py"
    path.write_bytes(text.encode())
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def _run_all(module: Any, seeds: Iterable[int]) -> list[dict[str, Any]]:
    found = []
    for workload in module.WORKLOADS:
        for seed in seeds:
            signal.alarm(SECONDS)
            try:
                found.append(_outputs(module, workload, seed))
            finally:
                signal.alarm(0)
    return found


def _failed(error: BaseException) -> tuple[str, str]:
    chain: BaseException | None = error
    while chain is not None:
        if isinstance(chain, OutOfBounds):
            return "bounds", str(chain)
        chain = chain.__cause__ or chain.__context__
    return "error", f"{type(error).__name__}: {error}"[:400]


def _judge(job: dict[str, Any], memory: Memory, folder: str, first: int) -> Ran:
    ran = Ran(job["name"])
    try:
        original = _load(job["original"], folder, first)
        memory.configuration, memory.configurations = 0, 1
        wanted = _run_all(original, job["seeds"])
        memory.backwards, memory.configuration = True, -1
        again = _run_all(original, job["seeds"])
        for number in range(1, memory.configurations - 1):
            # A rewrite may add more that are like any of them.
            memory.configuration = number
            again += _run_all(original, job["seeds"])
        memory.configuration = -1
    except Exception as error:
        ran.original, ran.why = _failed(error)
        return ran
    finally:
        memory.backwards = False
    for a, b in zip(again, cycle(wanted)):
        word, why = _difference(a, b)
        if word == "differs":
            ran.original, ran.why = "racy", why
    for number, (name, text) in enumerate(job["candidates"].items(), first + 1):
        try:
            found = _run_all(_load(text, folder, number), job["seeds"])
        except Exception as error:
            ran.candidates[name], ran.reasons[name] = _failed(error)
            continue
        limit = APPROXIMATE if name in job["approximate"] else CLOSE
        words = [_difference(a, b, limit) for a, b in zip(found, wanted, strict=True)]
        order = ["equal", "close", "differs"]
        ran.candidates[name], ran.reasons[name] = max(words, key=lambda pair: order.index(pair[0]))
    return ran


def main() -> None:
    import torch

    torch.set_num_threads(1)
    memory = Memory()
    guard_interpreter(memory)
    choose_configurations(memory)

    def too_long(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"over {SECONDS} s")

    signal.signal(signal.SIGALRM, too_long)
    out = os.dup(1)
    os.dup2(2, 1)
    number = 0
    with tempfile.TemporaryDirectory() as folder, os.fdopen(out, "w") as results:
        for line in sys.stdin:
            job = json.loads(line)
            results.write(json.dumps(asdict(_judge(job, memory, folder, number))) + "\n")
            results.flush()
            number += 1 + len(job["candidates"])


if __name__ == "__main__":
    main()
