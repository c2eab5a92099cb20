"""What `skel capture` says of a capture: its launches, by what each is replayed, and what is not real in it."""

from __future__ import annotations

from typing import Any

from skel.store.schema import Finding, Place

from ...findings import finding
from .command import Captured


def summary(captured: Captured, out: str) -> dict[str, Any]:
    """The document of `skel capture`, in plain JSON types."""
    manifest = captured.manifest
    by_launch = {number: call for call in manifest["calls"] for number in call["launches"]}
    return {
        "command": manifest["command"],
        "status": captured.status,
        "out": out if manifest["launches"] else None,
        "mode": manifest["processes"][0]["mode"] if manifest["processes"] else None,
        "values": manifest["choice"],
        "launches": [_launch(one, by_launch.get(one["launch"])) for one in manifest["launches"]],
        "calls": [
            {key: call[key] for key in ("call", "kind", "module", "name", "file", "line", "count", "launches")}
            | {"values": [piece["values"] for piece in call["pieces_before"]]}
            for call in manifest["calls"]
        ],
        "processes": manifest["processes"],
        "findings": [one.model_dump(mode="json") for one in findings(captured, by_launch)],
    }


def findings(captured: Captured, by_launch: dict[int, dict[str, Any]]) -> list[Finding]:
    """What a user must know of the capture before using it."""
    manifest, found = captured.manifest, []
    if captured.status:
        found.append(finding("command_failed", severity="warning", status=f"status {captured.status}"))
    if not manifest["launches"]:
        found.append(finding("no_launch_recorded", severity="warning"))
    pieces = [piece["values"] for call in manifest["calls"] for piece in call["pieces_before"]]
    for code, choice in (("values_assumed", "assumed"), ("values_regenerated", "regenerated")):
        if count := pieces.count(choice):
            found.append(finding(code, severity="info", count=count))
    for launch in manifest["launches"]:
        call = by_launch.get(launch["launch"])
        if call is None or call["kind"] == "kernel":
            place = Place(file=launch["file"], line=launch["line"], kernel=launch["kernel"])
            why = launch["not_replayable"] or "; ".join(launch["launchers"]) or "no function of its file called it"
            found.append(finding("launch_captured_alone", place, kernel=launch["kernel"], why=why))
    return found


def _launch(launch: dict[str, Any], call: dict[str, Any] | None) -> dict[str, Any]:
    """A launch as recorded, and by what it is replayed: its launcher, itself, or nothing."""
    by = "nothing" if call is None else "itself" if call["kind"] == "kernel" else call["name"]
    return {**launch, "replayed_by": by}
