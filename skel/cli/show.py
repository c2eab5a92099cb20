"""`skel show`: one skeleton in full."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skel.counted import counted

from .options import Db, Json
from .output import emit, working

if TYPE_CHECKING:
    from rich.console import Console

    from skel.store.schema import Skeleton, Source

MOST = 8
"""Places of one kind that are printed; `--json` has them all."""
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a skeleton; see `skel list`.")]


def command(name: Name, as_json: Json = False, db: Db = None) -> int:
    """Show one skeleton: symptoms, conditions, schedule, limits, numerics, evidence, sources, places in mined code.

    With them what its technique is worth in experts' own kernels, where it was taken out of them and both were timed.
    """
    from skel.ablated import ablated_of
    from skel.mined import mined_of
    from skel.plain import plain
    from skel.store.records import get_skeleton

    from .database import open_store

    with working("reading the skeletons"):
        database = open_store(db)
        skeleton = get_skeleton(database, name)
        mined = mined_of(database, name)
    ablated = ablated_of(name)
    document = {**plain(skeleton), "mined": mined, "ablation": ablated}
    emit(document, as_json, lambda console: _render(console, skeleton, mined, ablated))
    return 0


def _render(console: Console, skeleton: Skeleton, mined: dict[str, Any], ablated: dict[str, Any]) -> None:
    console.print(f"[bold]{skeleton.name}[/]  ", end="")
    console.print(skeleton.title, markup=False)
    does = "advises (nothing to apply)" if skeleton.is_advice else "rewrites"
    console.print(f"{does}, {skeleton.kind}, for {skeleton.purpose}, numerics {skeleton.numerics.result}", markup=False)
    console.print(f"\n{skeleton.summary.strip()}", markup=False)
    for title, lines in _sections(skeleton):
        if lines:
            console.print(f"\n[bold]{title}[/]")
            for line in lines:
                console.print(f"  {line.strip()}", markup=False)
    _render_ablated(console, ablated)
    _render_mined(console, mined)
    if not skeleton.is_advice:
        console.print(f"\ntry: skel apply {skeleton.name} FILE --diff", markup=False)


def _render_ablated(console: Console, ablated: dict[str, Any]) -> None:
    """What taking it out of experts' kernels costs or saves, the greatest and the least of it."""
    from skel.ablated import telling, verdicts

    if not ablated:
        return
    summary, where = ablated["summary"], ablated["environment"]
    kernels, day = counted(summary["kernels"], "kernel"), ablated["measured_at"][:10]
    console.print(f"\n[bold]Measured by taking it out[/] of {kernels} on {where['device']}", end="")
    console.print(f" ({day}; a ratio is time without it over time with it): {verdicts(summary)}", markup=False)
    for row in telling(ablated["rows"], MOST):
        low, high = row["ratio"][1:]
        what = f"{row['version']} ({row['change']}) in {row['source']} {row['source_version']} {row['kernel']}"
        figures = f"{row['microseconds'][0]:.1f} to {row['microseconds'][1]:.1f} us, x{row['ratio'][0]:.3f}"
        console.print(f"  {row['verdict']}: {what}, {row['shape']}: {figures} ({low:.3f} to {high:.3f})", markup=False)


def _render_mined(console: Console, mined: dict[str, Any]) -> None:
    """Real places, a few of each kind, and what commits claim."""
    for role, title in (("uses", "Used at"), ("could_use", "Could be used at"), ("hazard", "Hazards at")):
        found = [one for one in mined["occurrences"] if one["role"] == role]
        if not found:
            continue
        places = sum(len(one["places"]) for one in found)
        some = f", {MOST} of them" if places > MOST else ""
        console.print(f"\n[bold]{title}[/] {counted(places, 'place')} in mined sources{some}")
        for place in _spread([place for one in found for place in one["places"]]):
            where = f"{place['source']} {place['revision'][:12]} {place['path']}:{place['line']} {place['kernel']}"
            console.print(f"  {where} ({place['licence']}): {place['why']}", markup=False)
    if mined["claims"]:
        commits = len({claim["commit"] for claim in mined["claims"]})
        # A sentence that holds several numbers is as many claims.
        lines = list(dict.fromkeys(map(_claimed, mined["claims"])))
        some = f", the last {MOST} sentences" if len(lines) > MOST else ""
        console.print(f"\n[bold]Claimed in {counted(commits, 'commit')}[/]{some}")
        for line in lines[:MOST]:
            console.print(f"  {line}", markup=False)


def _claimed(claim: dict[str, Any]) -> str:
    return f"{claim['outcome']}: {claim['statement']} ({claim['repository']} {claim['commit'][:10]})"


def _spread(places: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first few places, sources in turn."""
    by_source: dict[str, list[dict[str, Any]]] = {}
    for place in places:
        by_source.setdefault(place["source"], []).append(place)
    turns = [place for row in zip_longest(*by_source.values()) for place in row if place is not None]
    return turns[:MOST]


def _sections(s: Skeleton) -> Iterator[tuple[str, list[str]]]:
    yield "How you notice", [*s.symptoms.en, *s.symptoms.zh]
    yield "When it applies", [*s.applies_if, *(f"checked: {name}" for name in s.conditions)]
    yield "What is done", [f"{step.primitive}({_arguments(step.arguments)})" for step in s.schedule]
    yield "Decisions", [f"{d.name}: {d.description}{_values(d.values)}" for d in s.decisions]
    yield "Numerics", [f"{s.numerics.result}: {s.numerics.why}"]
    yield "Limits", [_limit(limit.model_dump(exclude_none=True)) for limit in s.limits]
    yield "Other skeletons", [f"{how.replace('_', ' ')}: {', '.join(names)}" for how, names in s.interactions if names]
    yield "Evidence", [_claim(claim.model_dump(exclude_none=True)) for claim in s.evidence]
    yield "Sources", [_source(source) for source in s.sources]


def _arguments(arguments: dict[str, str | int | float | bool]) -> str:
    return ", ".join(f"{key}={value}" for key, value in arguments.items())


def _values(values: tuple[str | int | float | bool, ...]) -> str:
    return f" ({', '.join(map(str, values))})" if values else ""


def _source(source: Source) -> str:
    lines = f":{source.lines}" if source.lines else ""
    return f"{source.repository} {source.revision} {source.path}{lines} ({source.licence}, {source.role})"


def _limit(fields: dict[str, object]) -> str:
    """`sm_90, spill bytes per thread 0: note`; the architecture `any` is not said."""
    named = [str(fields["architecture"])] if fields.get("architecture", "any") != "any" else []
    figures = {key: value for key, value in fields.items() if key not in ("architecture", "note")}
    named += [f"{key.replace('_', ' ')} {value}" for key, value in figures.items()]
    return ": ".join(text for text in (", ".join(named), str(fields.get("note", ""))) if text)


def _claim(claim: dict[str, object]) -> str:
    figures = " to ".join(str(claim[key]) for key in ("before", "after") if key in claim)
    tail = ", ".join(str(x) for x in (figures, claim.get("hardware"), claim["source"]) if x)
    return f"{claim['outcome']}: {claim['statement']} ({tail})"
