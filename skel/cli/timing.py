"""How a measurement is shown to a person: every workload, what ran there, the losers, the means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .tables import print_table

if TYPE_CHECKING:
    from rich.console import Console

_HEAD = (
    "workload", "version", "cold us", "ratio", "95 %", "warm us", "ratio", "of the floor, cold", "warm", "verdict",
)
_MEANS = (
    ("cold", "over the original, cold"),
    ("warm", "over the original, warm"),
    ("cold_over_own", "over the original's own best configuration, cold"),
    ("warm_over_own", "over the original's own best configuration, warm"),
    ("cold_over_widened", "over the best widened tile, cold"),
    ("warm_over_widened", "over the best widened tile, warm"),
)


def render_timing(console: Console, timing: dict[str, Any]) -> None:
    """Print a table with a line for each version on each workload (the chosen one is marked), then the means."""
    print_table(console, list(_HEAD), [line for row in timing["workloads"] for line in _lines(row)])
    for key, meaning in _MEANS:
        if mean := timing["geometric_mean"].get(key):
            console.print(f"  geometric mean {meaning}: {_ratio(mean)} ({_ends(mean)})", markup=False)
    console.print(f"  timer: {timing['timer']}; the cold cache decides; * runs there", markup=False)


def render_plan(console: Console, document: dict[str, Any]) -> None:
    """Print what a written plan holds, and how it is worked off and read."""
    plan = document["out"]
    console.print(document["timing"]["why"], markup=False)
    for line in (
        f"next, there: python -m skel.validation.timing.run {plan} --state DIR (needs torch and triton alone)",
        f"then, here: skel bench --plan {plan} --state DIR",
    ):
        console.print(line, markup=False, soft_wrap=True)


def _lines(row: dict[str, Any]) -> list[list[Any]]:
    if "candidates" not in row:
        return [[row["label"], row["chosen"], *[None] * 7, row["verdict"]]]
    times = {name: one["microseconds"]["cold"] for name, one in row["candidates"].items()}
    names = sorted(times, key=lambda name: (name != "original", times[name]))
    chosen = row["chosen"]
    return [
        [row["label"] if name == names[0] else "", _title(row, name, chosen), *_figures(row["candidates"][name]),
         row["verdict"] if name == chosen else ""]
        for name in names
    ]


def _title(row: dict[str, Any], name: str, chosen: str) -> str:
    title = row["own"]["name"] if name == "own" and row["own"] else name
    return f"{title} *" if name == chosen else title


def _figures(one: dict[str, Any]) -> list[Any]:
    cold, warm = (one["ratio"].get(mode) for mode in ("cold", "warm"))
    microseconds, floor = one["microseconds"], one["of_floor"]
    return [
        f"{microseconds['cold']:.2f}", _ratio(cold), _ends(cold), f"{microseconds['warm']:.2f}", _ratio(warm),
        f"{floor['cold']:.0%}", f"{floor['warm']:.0%}",
    ]


def _ratio(interval: dict[str, float] | None) -> str:
    return f"{interval['median']:.3f}x" if interval else ""


def _ends(interval: dict[str, float] | None) -> str:
    return f"{interval['low']:.3f} to {interval['high']:.3f}" if interval else ""
