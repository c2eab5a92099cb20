"""A scan as SARIF 2.1.0, for editors and code hosts: findings, and opportunities with what stands against them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skel import __version__
from skel.store.schema import CODES

_LEVELS = {"info": "note", "warning": "warning", "error": "error"}


def sarif(document: dict[str, Any]) -> dict[str, Any]:
    """The SARIF log of a scan's document."""
    results = [*_findings(document), *_opportunities(document)]
    used = sorted({result["ruleId"] for result in results})
    driver = {"name": "skel", "version": __version__, "rules": [_rule(name) for name in used]}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "invocations": [_invocation(document)], "results": results}],
    }


def _invocation(document: dict[str, Any]) -> dict[str, Any]:
    """That the scan came to its end, with a notification for each file that was not read."""
    notes = [
        {"level": "warning", "message": {"text": f"not read: {one['why']}"}, "locations": [_location(one["file"])]}
        for one in document.get("not_read", ())
    ]
    return {"executionSuccessful": True, **({"toolExecutionNotifications": notes} if notes else {})}


def _findings(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for finding in document["findings"]:
        place = finding["place"]
        data = finding.get("data") or {}
        when, shown = data.get("fails_when"), data.get("shown")
        parts = (
            finding["message"],
            f"(fails when {when})" if when else "",
            f"(shown: {shown['text']})" if shown else "",
            finding["hint"],
        )
        text = " ".join(part for part in parts if part)
        level = _LEVELS.get(finding["severity"], "note")
        result = _result(finding["code"], level, text, place["file"], place["line"], place["end_line"])
        kept = {name: data[name] for name in ("word", "shown", "not_shown") if data.get(name)}
        yield {**result, **({"properties": kept} if kept else {})}


def _opportunities(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for kernel in document["kernels"]:
        for found in kernel["opportunities"]:
            against = "; ".join(f"refused ({r['code']}): {r['message']}" for r in found["refusals"])
            text = f"{found['skeleton']}: {found['why']}" + (f"; {against}" if against else "")
            result = _result(found["skeleton"], "note", text, kernel["file"], found["line"], None)
            why = {"properties": {"why_this_rank": found["gain_why"]}} if found.get("gain_why") else {}
            yield {**result, "rank": round(100 * found.get("gain", 0.0), 1), **why}


def _result(rule: str, level: str, text: str, file: str | None, line: int | None, end: int | None) -> dict[str, Any]:
    result: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": text}}
    if file is not None:
        result["locations"] = [_location(file, line, end)]
    return result


def _location(file: str, line: int | None = None, end: int | None = None) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(file)}}
    if line is not None:
        location["region"] = {"startLine": line, **({"endLine": end} if end is not None else {})}
    return {"physicalLocation": location}


def _uri(file: str) -> str:
    """A path as a URI reference: relative ones stay relative, whatever no URI may hold is escaped (RFC 3986)."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix(), safe="/")


def _rule(name: str) -> dict[str, Any]:
    code = CODES.get(name)
    return {"id": name, **({"help": {"text": code.hint}} if code else {})}
