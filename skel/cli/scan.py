"""`skel scan`: where kernels use a skeleton, or could. Files are read, never run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skel.counted import counted
from skel.faults import MissingHere, WrongUse
from skel.store.schema.words import ExitStatus

from .options import Db, Json
from .output import emit, working

if TYPE_CHECKING:
    from rich.console import Console

Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="Python files, or folders of them.")]
FailOn = Annotated[
    list[str], typer.Option("--fail-on", metavar="CODE", help="Exit 1 where a finding or refusal has this code.")
]
_COLUMNS = ("used", "applies", "refused", "advice")
Sarif = Annotated[bool, typer.Option("--sarif", help="Print SARIF 2.1.0 on stdout, for editors and code hosts.")]


Show = Annotated[
    bool, typer.Option("--show", help="Launch kernels with hazards on small inputs, isolated, to show which are bugs.")
]


def command(
    paths: Paths,
    fail_on: FailOn = [],  # noqa: B006
    show: Show = False,
    sarif: Sarif = False,
    as_json: Json = False,
    db: Db = None,
) -> int:
    """List, for every kernel, the skeletons it uses and those that would help, with what stands against them."""
    from skel.scan import codes_in, python_files, scan_files
    from skel.scan_cache import user_cache
    from skel.store.schema import CODES

    unknown = [code for code in fail_on if code not in CODES]
    if unknown:
        raise WrongUse(f"{unknown[0]!r} is no code", hint="docs/reference.md has the table of codes")
    missing = [path for path in paths if not Path(path).exists()]
    if missing:
        raise WrongUse(f"there is no {missing[0]}", hint="check the path; it is relative to the working directory")
    lost: list[dict[str, str]] = []
    files = python_files(paths, lost)
    with working(f"reading {counted(len(files), 'file')}") as tell:
        document = scan_files(files, user_cache(), partial(_told, tell))
    document["not_read"] += lost
    if show:
        _show(document)
    if sarif:
        from skel.sarif import sarif as as_sarif

        emit(as_sarif(document), True, lambda _: None)
    else:
        emit(document, as_json, lambda console: _render(console, document))
    return ExitStatus.BAD_VERDICT if codes_in(document) & set(fail_on) else ExitStatus.OK


def _told(tell: Callable[[str, dict[str, Any]], None], done: int, of: int) -> None:
    """How far the scan is, in tenths."""
    if done * 10 // of > (done - 1) * 10 // of:
        tell(f"{done} of {counted(of, 'file')} with kernels", {})


def _show(document: dict[str, Any]) -> None:
    """Raises MissingHere where nothing can be run here."""
    from skel.scan_shown import show_findings
    from skel.validation.isolation import WorkerError

    with working(f"launching kernels with {counted(len(document['findings']), 'finding')}") as tell:
        try:
            show_findings(document, lambda path: tell("launched", {"kernels_of": path}))
        except WorkerError as error:
            raise MissingHere(f"no worker could start: {error}", hint="see `skel doctor`") from error


def _render(console: Console, document: dict[str, Any]) -> None:
    for kernel in document["kernels"]:
        if not kernel["uses"] and not kernel["opportunities"]:
            continue
        console.print(f"{kernel['file']}:{kernel['line']} {kernel['kernel']}", style="bold", markup=False)
        for use in kernel["uses"]:
            console.print(f"  uses {use['skeleton']} (line {use['line']}): {use['why']}", markup=False)
        for found in kernel["opportunities"]:
            state = {True: "could use", False: "could use, but is refused:", None: "consider"}[found["applicable"]]
            console.print(f"  {state} {found['skeleton']} (line {found['line']}): {found['why']}", markup=False)
            if found.get("gain_why"):
                console.print(f"    why this rank ({found['gain']:.2f}): {found['gain_why']}", markup=False)
            for refusal in found["refusals"]:
                console.print(f"    {refusal['code']}, line {refusal['line']}: {refusal['message']}", markup=False)
                if refusal["hint"]:
                    console.print(f"    what to do: {refusal['hint']}", markup=False)
    for finding in document["findings"]:
        place = ":".join(str(x) for x in (finding["place"]["file"], finding["place"]["line"]) if x is not None)
        data = finding.get("data") or {}
        words = " ".join(w for w in (finding["severity"], data.get("word"), finding["code"]) if w)
        console.print(f"{place} {words}: {finding['message']}", markup=False)
        if data.get("fails_when"):
            console.print(f"  fails when {data['fails_when']}", markup=False)
        if data.get("shown"):
            console.print(f"  shown: {data['shown']['text']}", markup=False)
            console.print(f"  by: {_by(data['shown']['input'])}", markup=False)
        elif data.get("not_shown"):
            console.print(f"  not shown: {data['not_shown']}", markup=False)
    for skipped in document["not_read"]:
        console.print(f"not read: {skipped['file']}: {skipped['why']}", markup=False)
    kernels = document["kernels"]
    count = sum(len(kernel["opportunities"]) for kernel in kernels)
    _summary(console, document)
    console.print(", ".join((counted(len(document["files"]), "file"), counted(len(kernels), "kernel"),
                             counted(count, "opportunity", "opportunities"))), markup=False)
    others = ", ".join(f"{number} {language}" for language, number in document["other_languages"].items())
    if others:
        console.print(f"seen and not read, in other kernel languages: {others}", markup=False)
    applicable = [(k, f) for k in kernels for f in k["opportunities"] if f["applicable"]]
    if applicable:
        kernel, found = max(applicable, key=lambda pair: float(pair[1].get("gain", 0.0)))
        console.print(f"try: skel apply {found['skeleton']} {kernel['file']}::{kernel['kernel']} --diff", markup=False)


def _by(given: dict[str, Any]) -> str:
    """An input in one line: arguments, and the elements of the tensors."""
    arguments = ", ".join(f"{name}={value}" for name, value in given["arguments"].items())
    sizes = ", ".join(f"{name} of {elements} elements" for name, elements in given["elements"].items())
    return f"{arguments}; {sizes}"


def _summary(console: Console, document: dict[str, Any]) -> None:
    """One row a skeleton: in how many kernels it is used, could be applied, is refused, or is advice."""
    counts: dict[str, Counter[str]] = {}
    for kernel in document["kernels"]:
        for use in kernel["uses"]:
            counts.setdefault(use["skeleton"], Counter())["used"] += 1
        for found in kernel["opportunities"]:
            state = {True: "applies", False: "refused", None: "advice"}[found["applicable"]]
            counts.setdefault(found["skeleton"], Counter())[state] += 1
    if len(document["kernels"]) < 2 or not counts:
        return
    from .tables import print_table

    rows = [[name, *(counts[name][column] or "" for column in _COLUMNS)] for name in sorted(counts)]
    print_table(console, ["skeleton", *_COLUMNS], rows)
