"""A scan as SARIF 2.1.0, for editors and code hosts: findings, and opportunities with what stands against them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


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
            yield {**result, "rank": round(100 * found.get("gain", 0.0), 1)}


def _result(rule: str, level: str, text: str, file: str | None, line: int | None, end: int | None) -> dict[str, Any]:
    result: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": text}}
    if file is not None:
        location: dict[str, Any] = {"artifactLocation": {"uri": file}}
        if line is not None:
            location["region"] = {"startLine": line, **({"endLine": end} if end is not None else {})}
        result["locations"] = [{"physicalLocation": location}]
    return result


def _rule(name: str) -> dict[str, Any]:
    code = CODES.get(name)
    return {"id": name, **({"help": {"text": code.hint}} if code else {})}
