"""A file to be judged: its text, how it is named when imported, and where its hooks are."""

from __future__ import annotations

import hashlib
import keyword
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


def sha256(text: str) -> str:
    """The hash by which a source is known everywhere, of its UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CandidateSource:
    """One candidate: a name to report it by, and the whole text of the rewritten file."""

    name: str
    text: str
    settings: dict[str, Any] = field(default_factory=dict)
    """The decisions taken, repeated in the report."""

    @property
    def sha256(self) -> str:
        return sha256(self.text)


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The text of a sidecar file and where it lies."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class SlicedModule:
    """A module that a slice needs: its own slice, under its own name."""

    module: str
    path: str
    """Its file relative to the package's root, with `/`."""
    text: str
    is_package: bool


@dataclass(frozen=True, slots=True)
class SliceSpec:
    """How a slice of a package's file is loaded: the names that are wanted of it, and the other modules they need."""

    names: tuple[str, ...]
    path: str
    """The file relative to the package's root, with `/`."""
    modules: tuple[SlicedModule, ...]
    ready: dict[str, str] = field(default_factory=dict)
    """Slices cut beforehand, by the hash of the whole text: they spare a worker the parts of skel that cut."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a worker loads: a text, the module name it is given, and a sidecar where the hooks are not in the text."""

    text: str
    path: str
    """Where the user's file lies: named in findings; its folder is searched for the modules it imports."""
    module: str
    """The module name the text is loaded under."""
    sidecar: Sidecar | None = None
    slice: SliceSpec | None = None
    """Present where only a slice of the text is loaded."""

    @property
    def sha256(self) -> str:
        return sha256(self.text)

    def with_text(self, text: str) -> Subject:
        """The same file with other contents: a candidate in place of the original."""
        return Subject(text, self.path, self.module, self.sidecar, self.slice)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Subject:
        sidecar = data.get("sidecar")
        part = data.get("slice")
        modules = tuple(SlicedModule(**one) for one in part["modules"]) if part else ()
        spec = SliceSpec(tuple(part["names"]), part["path"], modules, part.get("ready", {})) if part else None
        return cls(data["text"], data["path"], data["module"], Sidecar(**sidecar) if sidecar else None, spec)


def module_name(path: str) -> str:
    """An importable name from a file's name: `my-kernel.py` becomes `my_kernel`."""
    stem = re.sub(r"\W", "_", Path(path).stem)
    return f"m_{stem}" if not stem or stem[0].isdigit() or keyword.iskeyword(stem) else stem
