"""`skel show`: one skeleton in full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Db, Json
from .output import emit, working

if TYPE_CHECKING:
    from rich.console import Console

    from skel.store.schema import Skeleton, Source

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a skeleton; see `skel list`.")]


def command(name: Name, as_json: Json = False, db: Db = None) -> int:
    """Show one skeleton: symptoms, conditions, schedule, limits, numerics, evidence and sources."""
    from skel.store.records import get_skeleton

    from .database import open_store

    with working("reading the skeletons"):
        skeleton = get_skeleton(open_store(db), name)
    emit(skeleton, as_json, lambda console: _render(console, skeleton))
    return 0


def _render(console: Console, skeleton: Skeleton) -> None:
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
    if not skeleton.is_advice:
        console.print(f"\ntry: skel apply {skeleton.name} FILE --diff", markup=False)


def _sections(s: Skeleton) -> Iterator[tuple[str, list[str]]]:
    yield "How you notice", [*s.symptoms.en, *s.symptoms.zh]
    yield "When it applies", [*s.applies_if, *(f"checked: {name}" for name in s.conditions)]
    yield "What is done", [f"{step.primitive}({_arguments(step.arguments)})" for step in s.schedule]
    yield "Decisions", [f"{d.name}: {d.description}{_values(d.values)}" for d in s.decisions]
    yield "Numerics", [f"{s.numerics.result}: {s.numerics.why}"]
    yield "Limits", [_fields(limit.model_dump(exclude_none=True)) for limit in s.limits]
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


def _fields(fields: dict[str, object]) -> str:
    return ", ".join(f"{key} {value}" for key, value in fields.items())


def _claim(claim: dict[str, object]) -> str:
    figures = " to ".join(str(claim[key]) for key in ("before", "after") if key in claim)
    tail = ", ".join(str(x) for x in (figures, claim.get("hardware"), claim["source"]) if x)
    return f"{claim['outcome']}: {claim['statement']} ({tail})"
