"""Traces what a judge found back to the program that stored it, from what the candidate's worker saw of its stores."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from . import trees
from .outputs import Fact

_TEXT = 128


def trace(found: list[Fact], path: Path) -> list[Fact]:
    """The facts, with `data["writer"]` where it is known: `kernel`, `program`, `line`, and of elements the first and
    last index that the same program stored with that line (`tile`). `data["unwritten"]` where no program stored it,
    with the nearest element before it that one did. The file is the candidate's own: what is odd in it is left out."""
    if not found or not path.exists():
        return found
    try:
        saved = trees.load(path)
        return [_traced(one, saved) for one in found]
    except Exception:  # a candidate may write what it likes there
        return found


def _traced(one: Fact, saved: dict[str, Any]) -> Fact:
    fields = one["fields"]
    if one["code"] == "out_of_bounds_write":
        where = (fields["tensor"], fields["side"])
        seen = next((place for place in saved["outside"] if (place["tensor"], place["side"]) == where), None)
        return _with(one, writer=_place(seen)) if seen else one
    numbers = saved["numbers"].get(fields.get("output"))
    index = _index(fields.get("first_index") or fields.get("index"))
    if numbers is None or index is None or len(index) != numbers.dim():
        return one
    number = int(numbers[tuple(index)])
    if number:
        return _with(one, writer=_place(saved["places"][number - 1]) | _tile(numbers, number))
    return _with(one, unwritten=_nearest(numbers, index, saved["places"]))


def _tile(numbers: Any, number: int) -> dict[str, Any]:
    """The corners of what one store of one program wrote."""
    at = (numbers == number).nonzero()
    return {"tile": [at.min(0).values.tolist(), at.max(0).values.tolist()]} if at.numel() else {}


def _nearest(numbers: Any, index: list[int], places: list[dict[str, Any]]) -> dict[str, Any]:
    """The last element before `index`, in memory order, that a program stored, and which; empty where there is none."""
    flat = 0
    for position, size in zip(index, numbers.shape, strict=True):
        flat = flat * size + position
    before = numbers.reshape(-1)[:flat].nonzero()
    if not before.numel():
        return {}
    last = int(before[-1])
    place = _place(places[int(numbers.reshape(-1)[last]) - 1])
    near = []
    for size in reversed(numbers.shape):
        near.append(last % size)
        last //= size
    return place | {"element": near[::-1]}


def _place(seen: dict[str, Any]) -> dict[str, Any]:
    program = [int(one) for one in seen["program"]][:3]
    return {"kernel": str(seen["kernel"])[:_TEXT], "program": program, "line": int(seen["line"])}


def _index(text: Any) -> list[int] | None:
    if not isinstance(text, str):
        return None
    parsed = ast.literal_eval(text)
    return parsed if isinstance(parsed, list) and all(type(one) is int for one in parsed) else None


def _with(one: Fact, **data: Any) -> Fact:
    return one | {"data": one["data"] | data}
