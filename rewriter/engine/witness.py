"""A small input for a hazard, made from its facts: sizes, tile, programs, and the question that a run of it answers.

A kernel is launched alone, so nothing says how large its tensors are but the kernel: they are taken to be as large as a
launch whose tile divides the dimension needs them. Other grid axes are held at their first program, so that what
programs share is shared by tiles of one axis. Whatever does not fit these rules is not shown, with the reason.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from skel.store.schema import Finding

from ..analysis.lanes import LaneReport
from ..detectors.hazards.reports import reports
from ..detectors.view import KernelView
from ..kernel.launch import Launch
from .witness_arguments import Roles, arguments_of, identifiers, roles_of

QUESTIONS = {
    "offset_may_overflow": "overflow",
    "unmasked_access": "outside",
    "tile_dependence": "tiles",
    "inplace_shared": "in_place",
    "same_value_store": "race",
    "shared_store": "race",
}
"""What a run is asked, by the finding's code."""
_ORDERING = frozenset({"atomic_cas", "atomic_xchg"})
_INT32 = re.compile(r"2\s*\*\*\s*31|1\s*<<\s*31|2147483647|2_147_483_647|0x7fffffff|iinfo", re.IGNORECASE)

_MULTIPROCESSORS = re.compile(r"multi_?processor|num_?sms?\b|num_?cores?\b|core_?num", re.IGNORECASE)


class NotShown(Exception):
    """No input can be made: why, in words."""


@dataclass(frozen=True, slots=True)
class Run:
    """One launch: the tile in words, the arguments that are no pointers, and the programs that are run, in order."""

    label: str
    arguments: dict[str, Any]
    programs: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run, and what is asked of it."""

    question: str
    kernel: str
    lines: tuple[int, ...]
    """Lines that the question is about."""
    pointers: dict[str, str]
    """Kind of the elements of each pointer: `float` or `int`."""
    runs: tuple[Run, ...]
    index: str = ""
    """Of an overflow: `program` or `memory`, what is made large."""


def plans(view: KernelView, finding: Finding) -> tuple[Plan, ...]:
    """Launches that may show a hazard, the likeliest first: flags off, then on. Raises NotShown."""
    question = QUESTIONS[finding.code]
    roles = roles_of(view)
    unknown = [p.name for p in view.kernel.parameters if "desc" in p.name and p.name not in roles.pointers]
    if unknown or view.own.called("load_tensor_descriptor"):
        raise NotShown("it takes descriptors, which are made by its launcher")
    flags = (False, True) if roles.flags else (False,)
    if question == "overflow":
        return tuple(_overflow(view, finding, roles, flag) for flag in flags)
    found = [r for r in reports(view) if r.name == finding.place.axis]
    if not found:
        raise NotShown("the axis is not a program id of its own")
    if question in ("in_place", "race") and any(a.kind in _ORDERING for a in view.facts.accesses):
        raise NotShown("it has atomics that may order its programs")
    return tuple(_tiled(view, finding, found[0], roles, question, flag) for flag in flags)


def _overflow(view: KernelView, finding: Finding, roles: Roles, flag: bool) -> Plan:
    for function in {launch.function for launch in view.launches if launch.function is not None}:
        if _INT32.search(ast.get_source_segment(view.module.source.text, function) or ""):
            raise NotShown("its launcher looks at the limit of 32 bits itself")
    if any(_counts_multiprocessors(launch) for launch in view.launches):
        raise NotShown("its grid is bounded by the number of multiprocessors")
    line = finding.place.line
    assert line is not None
    arguments = arguments_of(view, roles, {}, flag, large=True)
    index = "memory" if finding.data.get("index") == "loaded indices" else "program"
    return Plan("overflow", view.kernel.name, (line,), roles.pointers, (Run("", arguments, ((0, 0, 0),)),), index)


def _counts_multiprocessors(launch: Launch) -> bool:
    """True where the grid follows from what the device has, and not from the data."""
    names = {n.id for n in ast.walk(launch.grid) if isinstance(n, ast.Name)} if launch.grid is not None else set()
    body = list(ast.walk(launch.function)) if launch.function is not None else []
    made = [ast.unparse(n.value) for n in body if isinstance(n, ast.Assign) for t in n.targets
            for m in ast.walk(t) if isinstance(m, ast.Name) and m.id in names]
    texts = [*made, ast.unparse(launch.grid) if launch.grid is not None else ""]
    return any(_MULTIPROCESSORS.search(text) for text in texts)


def _tiled(view: KernelView, finding: Finding, report: LaneReport, roles: Roles, question: str, flag: bool) -> Plan:
    tile = _tile(view, report, finding, question)
    dimension, sizes = _dimension(view, report, question)
    if question == "outside":
        _divided_by_launcher(view, tile)
        small, large = _tiles_around(dimension)
    else:
        large, small = 8, 4
        while large < dimension:
            large, small = 2 * large, large
    widths = (small, large) if question == "outside" else (large, small)
    runs = []
    for width in widths:
        count = -(-dimension // width)
        chosen = sizes | {tile: width} | _digits(report, count)
        root = int(report.axis.root)
        programs = tuple((t if root == 0 else 0, t if root == 1 else 0, t if root == 2 else 0) for t in range(count))
        runs.append(Run(f"{tile}={width}", arguments_of(view, roles, chosen, flag), programs))
    if question == "race":
        runs = runs[1:]
    lines = tuple(finding.data.get("lines") or [finding.place.line])
    if question == "tiles":
        lines = (finding.data["stored_at"],)
    return Plan(question, view.kernel.name, lines, roles.pointers, tuple(runs))


def _tile(view: KernelView, report: LaneReport, finding: Finding, question: str) -> str:
    if len(report.tiles) != 1 or report.tiles[0] not in view.kernel.constexprs:
        raise NotShown(f"its tile, {' or '.join(report.tiles) or 'one lane'}, is no parameter of its own")
    tile = report.tiles[0]
    if not report.axis.root.isdigit():
        raise NotShown("the axis is not a program id of its own")
    lines = set(finding.data.get("lines") or ())
    for access in view.facts.accesses:
        poly = access.pointer.poly
        if question == "outside" and access.line in lines and poly is not None and tile in poly.symbols:
            raise NotShown(f"where {tile} is another, memory is laid out in another way")
    return tile


def _dimension(view: KernelView, report: LaneReport, question: str) -> tuple[int, dict[str, int]]:
    """The dimension along the axis, and the parameters that make it that large."""
    limits = {limit for a in view.facts.accesses for axis, limit in a.covered if axis == report.axis}
    wanted = 6 if question == "outside" else 8
    if not limits:
        return wanted, {}
    if len(limits) > 1:
        raise NotShown(f"masks cut {report.name} at {', '.join(sorted(limits))}")
    (limit,) = limits
    if limit.isdigit():
        return int(limit), {}
    if not re.fullmatch(r"[A-Za-z_]\w*(\*[A-Za-z_]\w*)*", limit):
        raise NotShown(f"masks cut {report.name} at {limit}, which is no size of its own")
    first, *others = identifiers(limit)
    if not {first, *others} <= set(view.kernel.parameter_names):
        raise NotShown(f"masks cut {report.name} at {limit}, which is computed in the kernel")
    return wanted, {first: wanted} | dict.fromkeys(others, 1)


def _tiles_around(dimension: int) -> tuple[int, int]:
    """A tile that divides the dimension, and the next power of two above it that does not."""
    small = dimension & -dimension
    if small >= dimension:
        raise NotShown(f"every tile up to the dimension, {dimension}, divides it")
    return small, 2 * small


def _digits(report: LaneReport, count: int) -> dict[str, int]:
    """Values under which program `t` is tile `t`: what is divided away is 1, what is taken the rest of is the count."""
    found: dict[str, int] = {}
    for operator, divisor in report.axis.steps:
        if operator == "//" and not divisor.isidentifier():
            raise NotShown(f"the axis is taken out of a program id by {divisor}")
        if divisor.isidentifier():
            found[divisor] = 1 if operator == "//" else count
    return found


def _divided_by_launcher(view: KernelView, tile: str) -> None:
    """Raises NotShown where the launcher itself sees to it that the tile divides the dimension."""
    for launch in view.launches:
        text = ast.unparse(launch.grid) if launch.grid is not None else ""
        function = launch.function
        body = ast.unparse(function) if function is not None else text
        if "//" in body and "cdiv" not in body and "- 1" not in body:
            raise NotShown("its launcher divides the dimension by the tile without rounding up")
        checks = [n.test for n in ast.walk(function) if isinstance(n, ast.Assert | ast.If)] if function else []
        if any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for test in checks for n in ast.walk(test)):
            raise NotShown("its launcher tests what divides what")
    kernel_checks = view.own.called("static_assert", "device_assert", "assume")
    if any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for c in kernel_checks for n in ast.walk(c)):
        raise NotShown("the kernel itself asks for a tile that divides")
