"""The text that was measured, where it is at hand. It is read, never run."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from skel.store.schema import Evidence

MOST_BYTES = 4_000_000
"""Larger files are no kernels; what says that it is empty may be a device of the kernel's, and block when read."""


@dataclass(frozen=True, slots=True)
class Text:
    """The original's text and where it was found; or why it was not."""

    text: str = ""
    path: str = ""
    why_not: str = ""


def source_of(evidence: Evidence) -> Text:
    """The file by its path from here, or by distribution and place in it, if its hash is the one measured."""
    from skel.faults import WrongUse
    from skel.files import in_archive, read_source
    from skel.store.canonical import sha256

    path = _place(evidence.file)
    try:
        if path is None or not (in_archive(path) or (path.is_file() and 0 < path.stat().st_size <= MOST_BYTES)):
            return Text(why_not=f"{evidence.file} is not at hand here")
        text = read_source(path).text
    except (OSError, ValueError, WrongUse):
        return Text(why_not=f"{evidence.file} cannot be read")
    digest = sha256(text)
    if digest == evidence.source_sha256:
        return Text(text, str(path))
    if digest == evidence.candidate_sha256:
        return Text(why_not=f"{evidence.file} holds the rewritten text now, and the original's is not stored")
    return Text(why_not=f"{evidence.file} is another text now than the one measured")


def _place(file: str) -> Path | None:
    """`examples/a.py` from here, or `name==1.0:package/a.py` in an installed package or a wheel."""
    package, colon, inside = file.rpartition(":")
    if not colon or "==" not in package:
        return Path(file)
    from skel.validation.workloads.target import Declared, SidecarError, find_target

    try:
        return find_target(Declared(inside, package, (), ast.Module([], [])), "./evidence").path
    except SidecarError:
        return None
