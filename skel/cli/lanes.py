"""`skel lanes`: what the stores of tiled kernels depend on, axis by axis. Files are read, never run."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skel.counted import counted
from skel.faults import WrongUse
from skel.store.schema.words import ExitStatus

from .options import Db, Json
from .output import emit, working

if TYPE_CHECKING:
    from rich.console import Console

Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="Python files, or folders of them.")]
AxisName = Annotated[str | None, typer.Option("--axis", metavar="NAME", help="Only the axis that kernels call NAME.")]
VERDICTS = ("separable", "linear_partials", "nonlinear_partials", "blocked", "unknown")


def command(paths: Paths, axis: AxisName = None, as_json: Json = False, db: Db = None) -> int:
    """Classify every store of every tiled kernel along its axes, and say whether tiles of the axis may be merged.

    L lane address, G guarded, I invariant, S partial slot, R anything else. Separable kernels hold only L, G and I.
    """
    from skel.scan import python_files

    missing = [path for path in paths if not Path(path).exists()]
    if missing:
        raise WrongUse(f"there is no {missing[0]}", hint="check the path; it is relative to the working directory")
    files = python_files(paths)
    with working(f"reading {counted(len(files), 'file')}"):
        document = lanes_of(files, axis)
    emit(document, as_json, lambda console: _render(console, document))
    return ExitStatus.OK


def lanes_of(files: list[Path], axis: str | None) -> dict[str, Any]:
    """The document: one entry for each kernel and axis, and totals by verdict."""
    from skel.files import read_source
    from skel.scan import over_files

    document: dict[str, Any] = {"axes": [], "totals": {}, "not_read": []}
    items: list[tuple[str, str]] = []
    for file in files:
        try:
            source = read_source(file)
        except WrongUse as fault:
            document["not_read"].append({"file": str(file), "why": fault.what})
            continue
        if "triton" in source.text:
            items.append((str(file), source.text))
    for (path, _), result in zip(items, over_files(partial(_lanes_of_text, axis), items), strict=True):
        if result["not_read"] is not None:
            document["not_read"].append({"file": path, "why": result["not_read"]})
        document["axes"] += result["axes"]
    totals = Counter(entry["verdict"] for entry in document["axes"])
    document["totals"] = {verdict: totals[verdict] for verdict in VERDICTS}
    return document


def _lanes_of_text(axis: str | None, path: str, text: str) -> dict[str, Any]:
    from skel.plain import plain
    from skel.rewriter.engine import lanes

    result: dict[str, Any] = plain(lanes(text, path, axis))
    return result


def _render(console: Console, document: dict[str, Any]) -> None:
    for entry in document["axes"]:
        classes = " ".join(f"{name}{count}" for name, count in entry["stores"].items()) or "no stores"
        console.print(
            f"{entry['file']}:{entry['line']} {entry['kernel']} {entry['axis']} ({', '.join(entry['tiles'])}): "
            f"{entry['verdict']} [{classes}]",
            markup=False,
        )
        for refusal in entry["refusals"]:
            console.print(f"  {refusal['code']}, line {refusal['line']}: {refusal['message']}", markup=False)
        if entry["uncovered"]:
            console.print(
                f"  unmasked along {entry['axis']}: line {', '.join(map(str, entry['uncovered']))}", markup=False
            )
    for skipped in document["not_read"]:
        console.print(f"not read: {skipped['file']}: {skipped['why']}", markup=False)
    totals = ", ".join(f"{count} {verdict}" for verdict, count in document["totals"].items())
    console.print(f"{counted(len(document['axes']), 'axis', 'axes')} of kernels: {totals}", markup=False)
