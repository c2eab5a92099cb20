"""How a verdict is shown to a person: the verdict, the candidates, the findings, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skel.counted import counted
from skel.meaning import MEANING
from skel.store.schema.words import Verdict
from skel.told import told_once

from .tables import print_table
from .timing import render_timing

if TYPE_CHECKING:
    from rich.console import Console

_COLUMNS = (
    ("candidate", "name"),
    ("registers", "registers"),
    ("spills (bytes)", "spill_bytes"),
    ("shared memory (bytes)", "shared_memory_bytes"),
    ("warps", "num_warps"),
    ("programs", "programs"),
    ("verdict", "verdict"),
)


def render_verdict(console: Console, document: dict[str, Any]) -> None:
    """Print the document of apply or check for a person."""
    verdict = Verdict(document["verdict"])
    console.print(f"[bold {'green' if verdict.is_success else 'red'}]{verdict}[/]: ", end="")
    subject = f"{document['skeleton']} on {document['file']}" if document["skeleton"] else document["file"]
    kernel = f"::{document['kernel']}" if document["kernel"] else ""
    console.print(f"{subject}{kernel}: {MEANING[verdict]}", markup=False)
    for refusal in document["refusals"]:
        _refusal(console, document["file"], refusal)
    rows = [row for row in document["candidates"] if row["verdict"] is not None]
    if document["compile"]:
        rows.insert(0, document["compile"]["original"])
    columns = [(title, key) for title, key in _COLUMNS if any(row[key] is not None for row in rows)]
    if rows:
        print_table(console, [title for title, _ in columns], [[row[key] for _, key in columns] for row in rows])
    if (document["timing"] or {}).get("workloads"):
        render_timing(console, document["timing"])
    hinted: set[str] = set()
    for finding in told_once(document["findings"]):
        _finding(console, finding, with_hint=finding["severity"] != "info" and finding["code"] not in hinted)
        hinted.add(finding["code"])
    _next(console, document, verdict)


def _refusal(console: Console, file: str, refusal: dict[str, Any]) -> None:
    place = f"{file}:{refusal['line']}" if refusal["line"] is not None else file
    console.print(f"  {place} {refusal['code']}: {refusal['message']}", markup=False)
    if refusal["hint"]:
        console.print(f"    what to do: {refusal['hint']}", markup=False)


def _finding(console: Console, finding: dict[str, Any], with_hint: bool) -> None:
    place = finding["place"]
    where = ":".join(str(x) for x in (place["file"], place["line"]) if x is not None)
    parts = [finding["severity"], where, f"{finding['code']}:", finding["message"]]
    further = finding["data"].get("further_cases")
    cases = f"and in {counted(further, 'further case')}" if further else None
    how = ", ".join(x for x in (place["workload"], finding["measured"], cases) if x)
    console.print("  " + " ".join(part for part in parts if part) + (f" ({how})" if how else ""), markup=False)
    if finding["hint"] and with_hint:
        console.print(f"    what to do: {finding['hint']}", markup=False)


def _next(console: Console, document: dict[str, Any], verdict: Verdict) -> None:
    if document.get("diff") is not None:
        console.print(document["diff"], end="", markup=False)
    elif document["out"] is not None:
        console.print(f"wrote {document['out']}", markup=False)
        console.print(f"next: diff -u {document['file']} {document['out']}", markup=False)
    elif document["skeleton"] and not verdict.is_success:
        console.print("nothing was written", markup=False)
