"""Compares what probes left with what the case itself gave. Runs no code but ours."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...protocol import Correctness
from .. import trees
from ..compare.close import root_mean_square
from ..compare.exact import exact_difference
from ..outputs import Fact, compare_form, compare_values, fact
from ..saved import is_tensor

Probed = dict[str, Any]
"""A probe's event: case, kind, probe, about, error."""


def judge_probe(probed: Probed, own: Path, exact: bool, numbers: Correctness) -> list[Fact]:
    """What is wrong with one probe of a target whose files lie in `own`, against what its case gave there: that has
    been held against the original already."""
    if probed["error"] is not None:
        return [fact("worker_raised", what=probed["probe"], error=probed["error"])]
    outputs = dict(trees.load(own / f"{probed['case']}.{probed['probe']}.pt"))
    return _JUDGES[probed["kind"]](probed, outputs, own, exact, numbers)


def _config(probed: Probed, outputs: Any, own: Path, exact: bool, numbers: Correctness) -> list[Fact]:
    right = trees.load(own / f"{probed['case']}.0.pt")
    expected = right["outputs"] | {f"input {name}": value for name, value in right["inputs"].items()}
    about = {key: probed["about"][key] for key in ("kernel", "config")}
    return [
        fact("autotune_config_wrong", output=bad["fields"].get("output", "its outputs"), why=bad["code"], **about)
        for bad in _all(outputs, expected, exact, numbers)
    ]


def _order(probed: Probed, outputs: Any, own: Path, exact: bool, numbers: Correctness) -> list[Fact]:
    usual = trees.load(own / f"{probed['case']}.0.pt")["outputs"]
    return _graded("order_dependent", outputs, usual, numbers)


def _same_memory(probed: Probed, outputs: Any, own: Path, exact: bool, numbers: Correctness) -> list[Fact]:
    everything = trees.load(own / f"{probed['about']['expected']}.0.pt")["outputs"]
    expected = {name: value for name, value in everything.items() if is_tensor(value)}
    return [
        fact("stale_output", output=bad["fields"].get("output", "the output"), earlier=probed["about"]["earlier"])
        for bad in _all(outputs, expected, exact, numbers)
    ]


def _batch(probed: Probed, outputs: Any, own: Path, exact: bool, numbers: Correctness) -> list[Fact]:
    whole = trees.load(own / f"{probed['case']}.0.pt")["outputs"]
    along, number = probed["about"]["along"], probed["about"]["number"]
    expected = {n: value.narrow(along[n], number, 1) for n, value in whole.items() if n in along and is_tensor(value)}
    return _graded("not_batch_invariant", {name: outputs.get(name) for name in expected}, expected, numbers)


def _partition(probed: Probed, outputs: Any, own: Path, exact: bool, numbers: Correctness) -> list[Fact]:
    """Parts against the whole; where the error is small but grows from part to part, that is said."""
    whole = trees.load(own / f"{probed['case']}.0.pt")["outputs"]
    found = [f for f in _graded("partition_differs", outputs, whole, numbers) if f["severity"] == "error"]
    bounds = probed["about"]["bounds"]
    for name, dim in probed["about"]["along"].items():
        if name not in whole or name not in outputs or compare_form({name: outputs[name]}, {name: whole[name]}):
            continue
        difference = outputs[name].double() - whole[name].double()
        size = root_mean_square(whole[name]) or 1.0
        errors = [root_mean_square(difference.narrow(dim, a, b - a)) / size for a, b in itertools.pairwise(bounds)]
        if len(errors) > 2 and errors[-1] > numbers.error_growth * max(errors[1], 1e-12) and sorted(errors) == errors:
            found.append(
                fact("error_grows", "warning", output=name, first=errors[1], last=errors[-1])
                | {"data": {"errors": errors, "bounds": bounds}}
            )
    return found


def _all(outputs: Any, expected: Any, exact: bool, numbers: Correctness) -> list[Fact]:
    if found := compare_form(outputs, expected):
        return found
    compared = (
        compare_values(name, outputs[name], value, exact=exact, reordered=not exact, numbers=numbers)
        for name, value in expected.items()
        if is_tensor(value)
    )
    return [bad for bad in compared if bad]


def _graded(code: str, outputs: Any, expected: Any, numbers: Correctness) -> list[Fact]:
    """Every tensor that is not equal to the bit: a warning within the tolerance, an error beyond it."""
    found = []
    for name, value in expected.items():
        if not is_tensor(value):
            continue
        got = outputs.get(name)
        if compare_form({name: got}, {name: value}):
            found.append(fact(code, output=name, count=value.numel(), total=value.numel(), index="[]"))
        elif difference := exact_difference(got, value):
            far = compare_values(name, got, value, exact=False, reordered=True, numbers=numbers)
            found.append(fact(code, "error" if far else "warning", output=name, **difference))
    return found


_JUDGES: dict[str, Callable[..., list[Fact]]] = {
    "config": _config,
    "order": _order,
    "same_memory": _same_memory,
    "batch": _batch,
    "partition": _partition,
}
