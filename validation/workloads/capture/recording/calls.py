"""Calls of launchers: functions of files that define kernels, with the arguments they were entered with.

A launch is repeated best by calling its launcher again: a rewritten launcher chooses another grid by itself. Arguments
are copied when the function is entered, since a launch may change them.
"""

from __future__ import annotations

import opcode
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from .arguments import NotReplayable, arguments_of, encode, form_of
from .memory import Snapshot, snapshot
from .numbers import SIGNATURES, UNUSED
from .writing import Writer

_RETURNS = frozenset(opcode.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in opcode.opmap)
"""Instructions that a function ends with when it does not raise: a profile function is not told which it was."""


@dataclass(slots=True)
class Launcher:
    """A function that can be called again from outside: `name` in its module. `apply` is the `forward` of a
    `torch.autograd.Function`, called through `apply`."""

    module: str
    name: str
    kind: str


@dataclass(slots=True)
class Entry:
    """One call in progress."""

    frame: int
    file: str
    launcher: Launcher | None
    line: int
    why: str | None = None
    """Why it could not be called again; None where it can."""
    given: dict[str, Any] = field(default_factory=dict)
    encoded: dict[str, Any] = field(default_factory=dict)
    tensors: list[Any] = field(default_factory=list)
    before: Snapshot | None = None
    form: Any = None
    known: int | None = None
    """The number of the recorded call of the same form."""
    launches: list[int] = field(default_factory=list)


class Calls:
    """Follows calls in all threads and records those that launched something."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.files: set[str] = set()
        """Files that define kernels."""
        self.executed = True
        """False where launches are only compiled."""
        self.count = 0
        self._local = threading.local()
        self._launchers: dict[CodeType, Launcher] = {}
        self._known: dict[Any, int] = {}
        self._unused: Counter[Any] = Counter()
        self._signatures: Counter[tuple[str, str]] = Counter()

    @property
    def stack(self) -> list[Entry]:
        """The calls in progress in this thread."""
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        return self._local.stack  # type: ignore[no-any-return]

    def watch(self) -> None:
        """From now on every entry and exit is seen, in this thread and in those started later."""
        threading.setprofile(self._event)
        sys.setprofile(self._event)

    def _event(self, frame: FrameType, event: str, argument: Any) -> None:
        if frame.f_code.co_filename not in self.files:
            return
        if event == "call":
            self._enter(frame)
        elif event == "return" and self.stack and self.stack[-1].frame == id(frame):
            entry = self.stack.pop()
            if frame.f_code.co_code[frame.f_lasti] in _RETURNS:
                self._leave(entry, argument)

    def entry_for(self, file: str) -> Entry | None:
        """The innermost call in progress of a function in `file` that can be called again."""
        return next((e for e in reversed(self.stack) if e.file == file and e.launcher and e.why is None), None)

    def reasons(self, file: str) -> list[str]:
        """Why the calls in progress in `file` cannot be made again, innermost first."""
        return [f"{e.launcher.name}: {e.why}" for e in reversed(self.stack) if e.file == file and e.launcher and e.why]

    def next_number(self) -> int:
        """The number of the next recorded call."""
        self.count += 1
        return self.count - 1

    def _enter(self, frame: FrameType) -> None:
        code = frame.f_code
        launcher = self._launcher(frame)
        if launcher is None:
            return
        entry = Entry(id(frame), code.co_filename, launcher, code.co_firstlineno)
        self.stack.append(entry)
        try:
            given = arguments_of(frame)
            if launcher.kind == "apply":
                del given["values"][given["order"].pop(0)]
            entry.encoded = {name: encode(value, entry.tensors) for name, value in given["values"].items()}
            entry.given = given
            entry.form = (launcher.module, launcher.name, form_of(entry.encoded, entry.tensors))
            entry.known = self._known.get(entry.form)
            if entry.known is None and self._wanted(entry):
                entry.before = snapshot(entry.tensors)
        except NotReplayable as error:
            entry.why = f"its argument is {error}"

    def _wanted(self, entry: Entry) -> bool:
        """False for what never launches, and for launchers of which enough different calls are recorded."""
        assert entry.launcher is not None
        name = (entry.launcher.module, entry.launcher.name)
        return self._unused[entry.form] < UNUSED and self._signatures[name] < SIGNATURES

    def _leave(self, entry: Entry, result: Any) -> None:
        if not entry.launches:
            self._unused[entry.form] += 1
            return
        if entry.known is not None or entry.before is None or entry.launcher is None:
            self._writer.write("count", {"call": entry.known, "name": entry.launcher.name if entry.launcher else None})
            return
        self._known[entry.form] = self._record(entry, result)
        self._signatures[(entry.launcher.module, entry.launcher.name)] += 1

    def _record(self, entry: Entry, result: Any) -> int:
        assert entry.launcher is not None and entry.before is not None
        number = self.next_number()
        outputs: list[Any] = []
        try:
            returned = encode(result, outputs)
        except NotReplayable as error:
            returned, outputs = {"unknown": str(error)}, []
        record = {
            "call": number,
            "kind": entry.launcher.kind,
            "module": entry.launcher.module,
            "name": entry.launcher.name,
            "file": entry.file,
            "sha256": self._writer.source(entry.file),
            "line": entry.line,
            "order": entry.given["order"],
            "keywords": entry.given["keywords"],
            "rest": entry.given["rest"],
            "extra": entry.given["extra"],
            "arguments": entry.encoded,
            "launches": entry.launches,
        }
        self._writer.write("call", record | self.memory(number, entry.before, entry.tensors, returned, outputs))
        return number

    def memory(
        self, number: int, before: Snapshot, tensors: list[Any], returned: Any, outputs: list[Any]
    ) -> dict[str, Any]:
        """The tensors of a call: as they were, as they are afterwards, and those it returned."""
        after, results = snapshot(tensors), snapshot(outputs)
        taken = {"before": before, "after": after, "results": results}
        if not self.executed:
            del taken["after"], taken["results"]
        changed = [n for n, (a, b) in enumerate(zip(before.pieces, after.pieces, strict=True)) if not a.equal(b)]
        return {
            "tensors": before.tensors,
            "returned": returned,
            "result_tensors": results.tensors,
            "changed": changed,
            "executed": self.executed,
            **{
                f"pieces_{name}": self._writer.pieces(one, f"call{number}.{name}.pt", self.executed)
                for name, one in taken.items()
            },
        }

    def _launcher(self, frame: FrameType) -> Launcher | None:
        """How the frame's function is reached from outside; None where it is not, as closures and methods are not."""
        code = frame.f_code
        if (known := self._launchers.get(code)) is not None:
            return known
        found = find_launcher(code, frame.f_globals)
        if found is not None:
            self._launchers[code] = found
        return found


def find_launcher(code: CodeType, names: dict[str, Any]) -> Launcher | None:
    """The function with that code, looked for among the globals of its module."""
    module = str(names.get("__name__", ""))
    if _has_code(names.get(code.co_name), code):
        return Launcher(module, code.co_name, "function")
    owner, _, method = code.co_qualname.partition(".")
    if method == "forward" and isinstance(names.get(owner), type):
        import torch

        held = vars(names[owner]).get("forward")
        if issubclass(names[owner], torch.autograd.Function) and _has_code(getattr(held, "__func__", None), code):
            return Launcher(module, owner, "apply")
    return None


def _has_code(value: Any, code: CodeType) -> bool:
    """True where `value` is the function, or wraps it."""
    for _ in range(8):
        if getattr(value, "__code__", None) is code:
            return True
        value = getattr(value, "__wrapped__", None)
        if value is None:
            return False
    return False
