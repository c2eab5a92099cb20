"""Sidecars of packages that cannot be imported here: slices of their files, run by the hooks of the sidecar.

In the replaying process every text is loaded in a fork of its own, since a slice takes the place of its package.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Say = Callable[[dict[str, Any]], None]
WORKLOADS = 2
"""Workloads of a sidecar that are run."""


def run_texts(job: dict[str, Any], how: str, say: Say) -> None:
    """The original of a job's `subject`, then each variant: run and compared, or compiled for sm_90."""
    with tempfile.TemporaryDirectory() as folder:
        texts = [("original:0", job["subject"]["text"], False)]
        texts += [(v["name"], v["text"], v["approximate"]) for v in job["variants"]]
        for number, (name, text, approximate) in enumerate(texts):
            if name in job["skip"]:
                continue
            place = Path(folder) / str(number)
            place.mkdir()
            said = _forked(place, job["subject"], text, how, number == 0)
            if number and how == "interpret" and said["is"] == "ran":
                said = _compared(Path(folder) / "0", place, approximate)
            elif said["is"] == "ran":
                said["is"] = "equal"
            say({"text": name, **said, "calls": [0]})
            if number == 0 and said["is"] not in ("equal", "compiled"):
                return


def _forked(place: Path, subject: dict[str, Any], text: str, how: str, twice: bool) -> dict[str, Any]:
    from .replaying import die_with_parent

    child = os.fork()
    if not child:
        status = 1
        try:
            die_with_parent()
            said = (_interpreted if how == "interpret" else _compiled)(place, subject, text, twice)
            (place / "said.json").write_text(json.dumps(said), encoding="utf-8")
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if not (place / "said.json").exists():
        return {"is": "died", "why": f"status {status}"}
    said: dict[str, Any] = json.loads((place / "said.json").read_text(encoding="utf-8"))
    return said


def _hooks(place: Path, subject: dict[str, Any], text: str) -> Any:
    from skel.validation.subject import Subject
    from skel.validation.workloads import load_subject, read_hooks

    folder = place / "loaded"
    folder.mkdir()
    return read_hooks(load_subject(Subject.from_dict(subject).with_text(text), folder).hooks_module)


def _interpreted(place: Path, subject: dict[str, Any], text: str, twice: bool) -> dict[str, Any]:
    """Runs the workloads and keeps what they leave; an original also with its programs in the opposite order."""
    import torch

    from tests.random_kernels.interpreting import Memory, guard_interpreter

    from .replaying import CLOSE, UNSET, difference, failed

    memory = Memory()
    try:
        hooks = _hooks(place, subject, text)
        guard_interpreter(memory, UNSET)
        with launching() as launched:
            found = _outputs(hooks)
        torch.save(found, place / "outputs.pt")
        if twice:
            memory.backwards = True
            word, why = difference(_outputs(hooks), found, CLOSE)
            if word == "differs":
                return {"is": "racy", "why": why}
    except Exception as error:
        word, why = failed(error)
        return {"is": word, "why": why}
    return {"is": "ran", "why": "", "launched": launched}


@contextmanager
def launching() -> Iterator[list[str]]:
    """The names of the kernels that are launched in the interpreter."""
    from triton.runtime.interpreter import InterpretedFunction

    run, found = InterpretedFunction.run, list[str]()

    def noting(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.fn.__name__ not in found:
            found.append(self.fn.__name__)
        return run(self, *args, **kwargs)

    InterpretedFunction.run = noting
    try:
        yield found
    finally:
        InterpretedFunction.run = run


def _outputs(hooks: Any) -> dict[str, Any]:
    from skel.validation.workloads import parameters_of

    from .replaying import tensors_in

    found: dict[str, Any] = {}
    for number, workload in enumerate(hooks.workloads[:WORKLOADS]):
        inputs = hooks.inputs(0, "cpu", parameters_of(workload))
        result = hooks.run(inputs)
        named = [*tensors_in(inputs, f"{number} input"), *tensors_in(result, f"{number} output")]
        found |= {name: one.detach().clone() for name, one in named}
    return found


def _compiled(place: Path, subject: dict[str, Any], text: str, twice: bool) -> dict[str, Any]:
    from skel.validation.compile.launches import compiling
    from skel.validation.compile.task import _from_compiler
    from skel.validation.workloads import parameters_of

    from .replaying import standing_in

    launches: list[Any] = []
    try:
        hooks = _hooks(place, subject, text)
        workload = (hooks.gpu_workloads or hooks.workloads)[0]
        inputs = hooks.inputs(0, "cpu", parameters_of(workload))
        with compiling(True) as launches, standing_in("sm_90"):
            hooks.run(inputs)
    except Exception as error:
        if not launches or _from_compiler(error):
            return {"is": "failed", "why": f"{type(error).__name__}: {error}"[:400]}
    names = list(dict.fromkeys(launch.kernel for launch in launches))
    return {"is": "compiled", "why": ", ".join(names), "launched": names}


def _compared(original: Path, place: Path, approximate: bool) -> dict[str, Any]:
    import torch

    from .replaying import APPROXIMATE, CLOSE, difference

    wanted, found = torch.load(original / "outputs.pt"), torch.load(place / "outputs.pt")
    word, why = difference(found, wanted, APPROXIMATE if approximate else CLOSE)
    return {"is": word, "why": why}
