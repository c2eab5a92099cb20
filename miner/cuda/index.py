"""All CUDA files of a source together: what a call reaches, what a name stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from skel.rewriter.detectors.base import Seen

from .functions import Call, CudaFile, CudaFunction, below, plain, text_of


@dataclass(frozen=True, eq=False)
class Index:
    """The files of one source."""

    files: tuple[CudaFile, ...]

    @cached_property
    def _by_name(self) -> dict[str, list[CudaFunction]]:
        found: dict[str, list[CudaFunction]] = {}
        for file in self.files:
            for function in file.functions:
                found.setdefault(function.name, []).append(function)
        return found

    @cached_property
    def _aliases(self) -> dict[str, dict[str, list[str]]]:
        """`using Load = cute::SM90_TMA_LOAD_2D`, by file and name."""
        found: dict[str, dict[str, list[str]]] = {}
        for file in self.files:
            here = found.setdefault(file.path, {})
            for node in below(file.root):
                if node.type == "alias_declaration":
                    name, type_ = node.child_by_field_name("name"), node.child_by_field_name("type")
                    here.setdefault(text_of(name), []).append(plain(type_))
        return found

    def spelled(self, function: CudaFunction, call: Call) -> list[str]:
        """What stands before a call's name, aliases of the file resolved: `cute::SM90_TMA_LOAD_2D` for `Ops::Load`."""
        aliases = self._aliases.get(function.path, {})
        return [text for part in call.scope for text in (part, *aliases.get(part, ()))]

    def targets(self, function: CudaFunction, call: Call) -> list[CudaFunction]:
        """Functions of the source that a call may reach, by name, scope and number of arguments."""
        found = [f for f in self._by_name.get(call.name, ()) if f is not function and _takes(f, len(call.arguments))]
        if call.scope:
            last = re.sub(r"<.*", "", call.scope[-1]).removeprefix("::").strip()
            named = {
                last,
                *(re.sub(r"<.*", "", a).split("::")[-1] for a in self._aliases.get(function.path, {}).get(last, ())),
            }
            return [f for f in found if named & set(f.scope)]
        if call.receiver is not None:
            return [f for f in found if f.scope and not f.is_kernel]
        return [f for f in found if f.path == function.path or f.scope == function.scope[: len(f.scope)]]

    @cached_property
    def _shown(self) -> dict[tuple[str, CudaFunction], list[Seen]]:
        return {}

    @cached_property
    def _reached(self) -> dict[CudaFunction, list[tuple[Call, list[CudaFunction]]]]:
        return {}

    def reached(self, function: CudaFunction) -> list[tuple[Call, list[CudaFunction]]]:
        """The function's calls of functions of the source, with what each may reach."""
        if function not in self._reached:
            known = ((call, self.targets(function, call)) for call in function.calls if call.name in self._by_name)
            self._reached[function] = [(call, targets) for call, targets in known if targets]
        return self._reached[function]

    def through(
        self,
        function: CudaFunction,
        what: str,
        direct: Callable[[CudaFunction], list[Seen]],
        passes: Callable[[CudaFunction, Call, CudaFunction], bool] = lambda function, call, target: True,
    ) -> list[Seen]:
        """What the function shows itself, and at its calls what every function that they may reach shows.

        `what` names the question, so that each function is asked once. A call of which `passes` is false for what it
        may reach shows nothing.
        """
        key = (what, function)
        if key not in self._shown:
            self._shown[key] = []  # a function that calls itself shows no more by that
            found = list(direct(function))
            for call, targets in self.reached(function):
                shown = [self.through(one, what, direct, passes) for one in targets]
                if all(shown) and all(passes(function, call, one) for one in targets):
                    why, _, inner = shown[0][0].why.partition(", in ")
                    found.append(Seen(call.line, f"{why}, in {call.name}" + (" and what it calls" if inner else "")))
            self._shown[key] = found
        return self._shown[key]


def _takes(function: CudaFunction, arguments: int) -> bool:
    return function.required <= arguments <= len(function.parameters)


@dataclass(frozen=True, slots=True)
class CudaDetector:
    """The signs of one technique in CUDA. `skeleton` is the name of its record."""

    skeleton: str
    uses: Callable[[CudaFunction, Index], list[Seen]]
    """Places in one function that show that it has the technique."""
    opportunities: Callable[[CudaFunction, Index], list[Seen]] = lambda function, index: []
    """Places that show the symptom."""
    hosts: bool = False
    """True where host functions are asked as well."""


def unique(found: Iterable[Seen]) -> list[Seen]:
    """Each line once."""
    return list({seen.line: seen for seen in sorted(found)}.values())
