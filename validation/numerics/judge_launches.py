"""Compares what a candidate's launches left in memory with what the original's did, memory by memory.

Equal memories settle it. Of one that differs, or that the candidate does not have, the outputs may still depend: then
it is an intermediate that another kernel makes good (a gate in another base, partials of another tile), and the outputs
decide. Only the original can tell, so a question to it comes out of here: see `substitute_task`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..protocol import Correctness
from ..workloads.hooks import is_scratch
from . import trees
from .cases import Case
from .compare.poison import poisoned
from .outputs import Fact, compare_values, fact

Question = dict[str, Any]
"""`case`, `kernel`, `parameter`, `number`, `launch`, what `differs` (a fact's fields, or None where the candidate has
no such memory), `matched` by the kernel's name or by the parameter's only; `values`, the candidate's."""


def questions(case: Case, own: Path, out: Path, exact: bool, numbers: Correctness) -> list[Question]:
    """One for each memory that the original's launches wrote and that holds other values after the candidate's."""
    found: list[Question] = []
    for entry, got, matched, difference in _unequal(case, own, out, exact, numbers):
        asked = {"case": case.id, "launch": entry["launches"], "differs": difference, "matched": matched, "values": got}
        found.append(asked | {key: entry[key] for key in ("kernel", "parameter", "number")})
    return found


def mended(
    case: Case, own: Path, out: Path, as_left: Collection[str], exact: bool, numbers: Correctness,
    scratch: Sequence[str] = (),
) -> list[Fact]:
    """Results that the original hands back as its kernel left them, where the candidate's kernel of that name left
    other values and the result is right all the same: something that is no kernel made it so. `as_left` are the
    candidate's outputs and inputs (as `Watch.from_kernels` names them) that hold what a launch wrote."""
    found: dict[str, Fact] = {}
    for entry, _, matched, difference in _unequal(case, own, out, exact, numbers):
        name = entry["value"]
        handed_back = name.startswith(("output ", "input ")) and name not in as_left
        if is_scratch(name.removeprefix("input "), scratch) and not name.startswith("output "):
            continue
        if handed_back and difference is not None and matched == "kernel":
            found.setdefault(name, fact("result_mended", kernel=entry["kernel"], output=name, **difference))
    return list(found.values())


def _unequal(
    case: Case, own: Path, out: Path, exact: bool, numbers: Correctness
) -> Iterator[tuple[dict[str, Any], Any, str, dict[str, Any] | None]]:
    """What the original's launches wrote and the candidate's did not: its entry, the candidate's values (None where it
    has no such memory), what these were found by, and in what they differ."""
    right, left = _left(case, out), _left(case, own)
    for entry, expected in right:
        if not entry["written"] or expected is None:
            continue
        other, got, matched = _match(entry, expected, left)
        if entry["value"].startswith(("output ", "input ")) and other.get("value") == entry["value"]:
            continue  # handed back as it is by both: it has been compared already
        difference = None if got is None else _difference(entry, got, expected, exact, numbers)
        if got is None or difference is not None:
            yield entry, got, matched, difference


def _left(case: Case, folder: Path) -> list[tuple[dict[str, Any], Any]]:
    """Every memory with its values, flat; None where they could not be kept."""
    saved = trees.load(folder / f"{case.id}.launches.pt")
    run = trees.load(folder / f"{case.id}.0.pt")
    values = dict(saved["values"])
    values |= {f"output {name}": value for name, value in run["outputs"].items()}
    values |= {f"input {name}": value for name, value in run["inputs"].items()}
    return [(entry, _flat(values.get(entry["value"]))) for entry in saved["entries"]]


def _flat(value: Any) -> Any:
    return None if value is None else value.reshape(-1)


def _match(
    entry: Mapping[str, Any], expected: Any, left: list[tuple[dict[str, Any], Any]]
) -> tuple[dict[str, Any], Any, str]:
    """The candidate's entry of the same memory, its values, flat, and what it was found by: the kernel and its
    parameter, or in a kernel of another name the parameter."""
    same = [
        (one, got)
        for one, got in left
        if got is not None
        and (one["parameter"], one["number"]) == (entry["parameter"], entry["number"])
        and got.numel() == expected.numel()
        and got.dtype == expected.dtype
    ]
    for one, got in same:
        if one["kernel"] == entry["kernel"]:
            return one, got, "kernel"
    has_kernel = any(one["kernel"] == entry["kernel"] for one, _ in left)
    return (*same[0], "parameter") if same and not has_kernel else ({}, None, "nothing")


def _difference(
    entry: Mapping[str, Any], got: Any, expected: Any, exact: bool, numbers: Correctness
) -> dict[str, Any] | None:
    """What differs, as the fields of a finding. What the original left as it was allocated is nobody's."""
    got = got.clone()
    unwritten = poisoned(expected)
    got[unwritten] = expected[unwritten]
    bad: Fact | None = compare_values(
        entry["parameter"], got, expected, exact=exact, reordered=not exact, numbers=numbers
    )
    if bad is None:
        return None
    return {"why": bad["code"]} | {key: value for key, value in bad["fields"].items() if key != "output"}
