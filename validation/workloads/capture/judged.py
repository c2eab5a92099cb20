"""What a capture can say of a candidate, and what must be said of the capture itself.

Where only a launch was captured, it is repeated as it was: it says nothing of a candidate that launches otherwise.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from skel.store.schema import Finding, Place

from ...findings import finding
from ...subject import CandidateSource, Subject
from .archive import Capture
from .workload import COPY, calls_of


def capture_of(subject: Subject) -> Capture | None:
    """The capture that the subject's sidecar was made from; None for every other subject."""
    if subject.sidecar is None or not (copied := Path(subject.sidecar.path).parent / COPY).exists():
        return None
    return Capture(copied)


def launch_not_replayed(subject: Subject, candidate: CandidateSource) -> Finding | None:
    """Why the capture cannot judge this candidate; None where it can."""
    capture = capture_of(subject)
    if capture is None or not host_changed(subject.text, candidate.text):
        return None
    kernels = [c["name"] for c in calls_of(capture, subject.text, subject.path) if c["kind"] == "kernel"]
    if not kernels:
        return None
    place, names = Place(file=subject.path, kernel=kernels[0]), ", ".join(sorted(set(kernels)))
    return finding("launch_not_replayed", place, severity="warning", candidate=candidate.name, kernel=names)


def of_capture(subject: Subject) -> list[Finding]:
    """What is not as it was recorded: another source, values that were made up."""
    capture = capture_of(subject)
    if capture is None:
        return []
    calls = calls_of(capture, subject.text, subject.path)
    place = Place(file=subject.path)
    found = []
    if calls[0]["sha256"] != subject.sha256:
        found.append(finding("capture_of_other_source", place, severity="warning", file=subject.path))
    pieces: list[Any] = [piece["values"] for call in calls for piece in call["pieces_before"]]
    for code, choice in (("values_assumed", "assumed"), ("values_regenerated", "regenerated")):
        if count := pieces.count(choice):
            found.append(finding(code, place, severity="info", count=count))
    return found


def host_changed(original: str, candidate: str) -> bool:
    """True where anything but the bodies of kernels differs, or a kernel takes other arguments."""
    try:
        return _without_kernels(original) != _without_kernels(candidate)
    except SyntaxError:
        return False  # the candidate cannot be loaded, which is another verdict


def _without_kernels(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(one) for one in node.decorator_list):
            node.body = [ast.Pass()]
    return ast.dump(tree)
