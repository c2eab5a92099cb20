"""Says in which way a wrong candidate is wrong: constant, stale, right only at first, right only where foreseen.

The values have been found wrong before; what is said here names the kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import trees
from .cases import Case
from .outputs import Fact, fact
from .saved import is_tensor


def kinds_of_wrong(
    case: Case, number: int, outputs: Mapping[str, Any], right: Mapping[str, Any], own: Path, before: Iterable[Case]
) -> list[Fact]:
    """Of one wrong run (`number`) of a case: outputs of one value, and outputs that an earlier case gave."""
    import torch

    found: list[Fact] = []
    names = [n for n, value in right.items() if is_tensor(value) and is_tensor(outputs.get(n)) and value.numel() > 1]
    for name in names:
        got, expected = outputs[name], right[name]
        first = got.reshape(-1)[0] if got.numel() else None
        if first is not None and bool((got == first).all()) and not bool((expected == expected.reshape(-1)[0]).all()):
            found.append(fact("constant_output", output=name, value=first.item()))
            continue
        for earlier in before:
            kept = trees.load(own / f"{earlier.id}.0.pt")["outputs"].get(name)
            if (
                is_tensor(kept)
                and kept.shape == got.shape
                and torch.equal(kept, got)
                and not torch.equal(got, expected)
            ):
                found.append(fact("stale_output", output=name, earlier=earlier.label))
                break
    if number > 0:
        found += [fact("only_first_call_right", output=name, call=number + 1) for name in names[:1]]
    return found


def right_where_foreseen(cases: Iterable[Case], wrong: Mapping[str, list[Fact]]) -> dict[str, list[Fact]]:
    """By workload: a finding where of the declared cases exactly the one with the drawn seed is wrong."""
    found: dict[str, list[Fact]] = {}
    declared: dict[str, list[Case]] = {}
    for case in cases:
        if case.kind == "declared":
            declared.setdefault(case.workload, []).append(case)
    for workload, members in declared.items():
        *known, drawn = members
        bad = [one for one in wrong.get(drawn.id, ()) if one["code"] == "values_differ"]
        if known and bad and not any(wrong.get(case.id) for case in known):
            found[workload] = [fact("only_known_seeds_right", output=bad[0]["fields"]["output"])]
    return found
