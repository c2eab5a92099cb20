"""The program, the tile and the statement that wrote an output's first wrong element: as the source tells, or as the
interpreter saw it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from skel.rewriter.analysis.facts import analyse
from skel.rewriter.kernel.definition import KernelDef, Module, load_module
from skel.rewriter.kernel.idioms import constant_value
from skel.rewriter.kernel.launch import Launch, launches_of
from skel.rewriter.reasons import Refuse, finding
from skel.store.schema import Finding, Place

from .seen import seen_element, seen_outside

if TYPE_CHECKING:
    from skel.rewriter.analysis.events import Access

_CODES = frozenset({"values_differ", "nonfinite_differs", "uninitialised_read", "input_change_differs"})


def wrong_elements(findings: Iterable[dict[str, Any]], text: str, path: str) -> list[Finding]:
    """One finding an output: who writes its first wrong element, in `text`, the file that was judged; and one a memory
    that was written past its end.

    From the source it is told where it is certain: the output is a buffer that one launcher returns or is given by that
    name, the kernel stores to it along one axis with consecutive lanes, and the tile is a plain number at the launch.
    Else it is told where the interpreter saw the store.
    """
    first: dict[str, dict[str, Any]] = {}
    outside: dict[tuple[str, str], Finding] = {}
    for one in findings:
        if one["code"] == "out_of_bounds_write" and one["severity"] == "error" and one["data"].get("writer"):
            outside.setdefault((one["data"]["tensor"], one["data"]["side"]), seen_outside(one, path))
        name = one["data"].get("output", one["data"].get("name"))
        if one["code"] in _CODES and one["severity"] == "error" and isinstance(name, str):
            first.setdefault(name, one)
    written = [
        _finding(name, one, writers, path) or seen_element(name, one, path)
        for writers in [_writers_in(text, path)]
        for name, one in first.items()
    ]
    return [*outside.values(), *(one for one in written if one is not None)]


def _writers_in(text: str, path: str) -> list[_Writer]:
    try:
        module = load_module(text, path)
        return [writer for kernel in module.entry_kernels for writer in _writers(module, kernel)]
    except Refuse:
        return []


class _Writer:
    """A store of a kernel to a buffer, along an axis in tiles of a known width."""

    def __init__(self, outputs: frozenset[str], kernel: str, axis: str, tile: int, line: int) -> None:
        self.outputs, self.kernel, self.axis, self.tile, self.line = outputs, kernel, axis, tile, line


def _writers(module: Module, kernel: KernelDef) -> Iterator[_Writer]:
    facts = analyse(module, kernel)
    for launch in launches_of(module, kernel):
        for access in facts.stores:
            lane = _consecutive_lane(access)
            if lane is None or len(access.pointer.bases) != 1:
                continue
            axis, size = lane
            argument = launch.arguments.get(size)
            tile = int(size) if size.isdigit() else constant_value(module, argument) if argument is not None else None
            outputs = _names_of(launch, next(iter(access.pointer.bases)))
            if isinstance(tile, int) and tile > 0 and outputs:
                yield _Writer(outputs, kernel.name, facts.axis_name(axis), tile, access.line)


def _consecutive_lane(access: Access) -> tuple[Any, str] | None:
    """The axis along whose lanes consecutive elements are stored, and the key of its tile's size."""
    poly = access.pointer.poly
    if poly is None:
        return None
    found = [
        (atom.axis, atom.size)
        for monomial, coefficient in poly.terms
        for atom in monomial
        if atom.kind == "lane" and coefficient == 1 and len(monomial) == 1
    ]
    return found[0] if len(found) == 1 else None


def _names_of(launch: Launch, parameter: str) -> frozenset[str]:
    """What the buffer is called outside: its name, and its place among what the launcher returns."""
    argument = launch.arguments.get(parameter)
    if not isinstance(argument, ast.Name) or launch.function is None:
        return frozenset()
    names = {argument.id}
    for node in ast.walk(launch.function):
        if isinstance(node, ast.Return) and node.value is not None:
            names |= set(_places(node.value, argument.id))
    return frozenset(names)


def _places(returned: ast.expr, name: str) -> Iterator[str]:
    """As outputs are named in reports: `output` where it is the only one, a number in a tuple, a key in a dict."""
    if isinstance(returned, ast.Name) and returned.id == name:
        yield "output"
    if isinstance(returned, ast.Tuple | ast.List):
        yield from (str(at) for at, one in enumerate(returned.elts) if isinstance(one, ast.Name) and one.id == name)
    if isinstance(returned, ast.Dict):
        for key, value in zip(returned.keys, returned.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Name) and value.id == name:
                yield str(key.value)


def _finding(name: str, one: dict[str, Any], writers: list[_Writer], path: str) -> Finding | None:
    writing = [writer for writer in writers if name in writer.outputs]
    index = _index(one["data"].get("first_index") or one["data"].get("index"))
    if len(writing) != 1 or not index:
        return None
    writer = writing[0]
    number = index[-1] // writer.tile
    low = number * writer.tile
    return finding(
        "wrong_element",
        Place(file=path, line=writer.line, kernel=writer.kernel, axis=writer.axis, workload=one["place"]["workload"]),
        severity="error",
        measured=one["measured"],
        data={"output": name, "index": list(index), "program": number, "tile_lanes": writer.tile}
        | ({"writer": one["data"]["writer"]} if "writer" in one["data"] else {}),
        output=name,
        index=str(list(index)),
        program=f"{writer.axis} = {number}",
        kernel=writer.kernel,
        tile=f"{low} to {low + writer.tile - 1}",
        line=writer.line,
    )


def _index(text: Any) -> tuple[int, ...]:
    if not isinstance(text, str):
        return ()
    try:
        parsed = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ()
    return tuple(parsed) if isinstance(parsed, list) and all(isinstance(one, int) for one in parsed) else ()
