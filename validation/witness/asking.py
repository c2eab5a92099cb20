"""What a launch shows: each question of a plan, answered from the accesses of its runs, or None where nothing shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .launching import launch
from .memory import Access, Memory

DIFFERS = 1e-3
"""Relative: far above what another order of a sum changes in float32."""
FIRST_BIT, LAST_BIT = 10, 30
"""Powers of two that an index is given until an offset wraps."""
Answer = dict[str, Any] | None


def answer(kernel: Any, plan: dict[str, Any]) -> Answer:
    """`{"input": ..., "observed": ...}`, or None. Raises whatever the kernel raises."""
    return ASKED[plan["question"]](kernel, plan)


def _run(kernel: Any, plan: dict[str, Any], number: int, *, backwards: bool = False) -> Memory:
    run = plan["runs"][number]
    programs = run["programs"][::-1] if backwards else run["programs"]
    return launch(kernel, plan["pointers"], run["arguments"], programs)


def _overflow(kernel: Any, plan: dict[str, Any]) -> Answer:
    """The first power of two that wraps an offset of an active lane."""
    run = plan["runs"][0]
    for bit in range(FIRST_BIT, LAST_BIT + 1):
        index = 1 << bit if plan["index"] == "memory" else None
        programs = [[0 if index else 1 << bit, 0, 0]]
        narrow, wide = (launch(kernel, plan["pointers"], run["arguments"], programs, index, w) for w in (False, True))
        moved = _moved(narrow, wide)
        if moved and narrow.wrapped & set(plan["lines"]):
            access, computed, exact = min(moved, key=lambda m: (m[0].line < plan["lines"][0], m[0].line))
            given = {"loaded index": index} if index else {"program_id": programs[0]}
            return {
                "input": given | {"arguments": run["arguments"], "elements": {access.tensor: exact + 1}},
                "observed": {"line": access.line, "access": access.kind, "tensor": access.tensor, "offset": computed,
                             "exact_offset": exact},
                "text": f"with {_words(given)} the {access.kind} at line {access.line} goes to "
                        f"{access.tensor}[{computed}], not to {access.tensor}[{exact}]",
            }
    return None


def _moved(narrow: Memory, wide: Memory) -> list[tuple[Access, int, int]]:
    """Accesses that go elsewhere in 32 bits: each with its first offset that differs, as computed and exact."""
    found = []
    for a, b in zip(narrow.accesses, wide.accesses, strict=False):
        if a.tensor != b.tensor or a.line != b.line or len(a.offsets) != len(b.offsets):
            break
        wrong = (a.offsets != b.offsets).nonzero()[0]
        if len(wrong):
            found.append((a, int(a.offsets[wrong[0]]), int(b.offsets[wrong[0]])))
    return found


def _outside(kernel: Any, plan: dict[str, Any]) -> Answer:
    """A place that the launch with a tile that divides never touches, past the ends of what it does."""
    right, wrong = _run(kernel, plan, 0), _run(kernel, plan, 1)
    ends = _ends(right)
    for access in wrong.accesses:
        if access.line not in plan["lines"] or access.tensor not in ends:
            continue
        past = [int(o) for o in access.offsets if o > ends[access.tensor][1] or o < min(0, ends[access.tensor][0])]
        if past:
            run, size = plan["runs"][1], ends[access.tensor][1] + 1
            return {
                "input": _input(run, ends),
                "observed": {"line": access.line, "access": access.kind, "tensor": access.tensor, "offset": past[0],
                             "elements": size, "program": list(access.program)},
                "text": f"with {run['label']} program {list(access.program)} {access.kind}s {access.tensor}[{past[0]}]"
                        f" at line {access.line}: {access.tensor} has {size} elements, all that "
                        f"{plan['runs'][0]['label']} needs",
            }
    return None


def _tiles(kernel: Any, plan: dict[str, Any]) -> Answer:
    """One place that two tiles leave different values at."""
    memories = [_run(kernel, plan, number) for number in (0, 1)]
    return _compared(plan, memories[0], memories[1], plan["runs"][0]["label"], plan["runs"][1]["label"], plan["lines"])


def _in_place(kernel: Any, plan: dict[str, Any]) -> Answer:
    """As tiles, and the programs in the other order."""
    one, several = _run(kernel, plan, 0), _run(kernel, plan, 1)
    labels = [run["label"] for run in plan["runs"]]
    found = _compared(plan, one, several, labels[0], labels[1], ())
    if found is None:
        backwards = _run(kernel, plan, 1, backwards=True)
        found = _compared(plan, several, backwards, labels[1], f"{labels[1]}, programs in the other order", ())
    return found


def _race(kernel: Any, plan: dict[str, Any]) -> Answer:
    """Two programs that store different values at one place."""
    memory = _run(kernel, plan, 0)
    held: dict[tuple[str, int], tuple[Any, Any]] = {}
    for access in memory.accesses:
        if access.kind != "store" or access.line not in plan["lines"]:
            continue
        for offset, value in zip(map(int, access.offsets), access.values, strict=True):
            first = held.setdefault((access.tensor, offset), (access.program, value))
            if first[0] != access.program and _differ(first[1], value):
                run = plan["runs"][0]
                return {
                    "input": _input(run, _ends(memory)),
                    "observed": {"line": access.line, "tensor": access.tensor, "offset": offset,
                                 "stored": [[list(first[0]), float(first[1])], [list(access.program), float(value)]]},
                    "text": f"with {run['label']} programs {list(first[0])} and {list(access.program)} store "
                            f"{float(first[1]):.6g} and {float(value):.6g} at {access.tensor}[{offset}]",
                }
    return None


def _compared(plan: dict[str, Any], a: Memory, b: Memory, first: str, second: str, lines: Any) -> Answer:
    """A place that both wrote, at one of the lines where there are any, and left different values at."""
    for tensor in a.written:
        at = {o for m in (a, b) for x in m.accesses if x.tensor == tensor and x.kind != "load"
              and (not lines or x.line in lines) for o in map(int, x.offsets)}
        if a.written[tensor].keys() != b.written.get(tensor, {}).keys():
            continue
        for offset in sorted(at):
            x, y = float(a.written[tensor][offset]), float(b.written[tensor][offset])
            if _differ(x, y):
                return {
                    "input": _input(plan["runs"][-1], _ends(b)),
                    "observed": {"tensor": tensor, "offset": offset, "values": {first: x, second: y}},
                    "text": f"{tensor}[{offset}] is {x:.6g} with {first} and {y:.6g} with {second}",
                }
    return None


def _ends(memory: Memory) -> dict[str, tuple[int, int]]:
    """The first and last element of each tensor that a launch touches."""
    found: dict[str, tuple[int, int]] = {}
    for access in memory.accesses:
        low, high = found.get(access.tensor, (1 << 62, -1))
        found[access.tensor] = (min(low, int(access.offsets.min())), max(high, int(access.offsets.max())))
    return found


def _input(run: dict[str, Any], ends: dict[str, tuple[int, int]]) -> dict[str, Any]:
    return {
        "arguments": run["arguments"],
        "elements": {tensor: high + 1 for tensor, (_, high) in ends.items()},
        "programs": run["programs"],
    }


def _differ(a: Any, b: Any) -> bool:
    x, y = float(a), float(b)
    return not (x == y or (x != x and y != y) or abs(x - y) <= DIFFERS * max(abs(x), abs(y)))


def _words(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


ASKED: dict[str, Callable[[Any, dict[str, Any]], Answer]] = {
    "overflow": _overflow,
    "outside": _outside,
    "tiles": _tiles,
    "in_place": _in_place,
    "race": _race,
}
"""By question."""
