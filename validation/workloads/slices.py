"""Loads a slice in a worker: the target under its own module name, and the modules it needs under theirs.

The target's file holds its whole text, so that Triton reads the kernels' sources from it; only the slice is executed,
with the same line numbers.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ..subject import SlicedModule, Subject
from .late_names import bind_late

FOLDER = "package"
"""Folder for the files of the other modules, inside the worker's own."""


class SliceError(ImportError):
    """The text needs a name that its slice does not have."""


def load_slice(subject: Subject, path: Path) -> ModuleType:
    """Imports the slice of the subject, whose whole text lies at `path`.

    Raises SliceError for a name that nothing binds, and whatever the slice raises while it is imported.
    """
    assert subject.slice is not None
    text = sliced_text(subject)
    root = path.parent / FOLDER
    files = {subject.module: _File(path, text, subject.slice.path.endswith("__init__.py"))}
    for other in subject.slice.modules:
        place = root / other.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(other.text.encode())
        files[other.module] = _File(place, other.text, other.is_package)
    sys.meta_path.insert(0, SliceFinder(files))
    return importlib.import_module(subject.module)


def sliced_text(subject: Subject) -> str:
    """The subject's slice, cut from its text as it is now: original or candidate. Raises SliceError."""
    spec = subject.slice
    assert spec is not None
    if (ready := spec.ready.get(subject.sha256)) is not None:
        return ready
    # Only here, since a worker that is given its slices needs neither the rewriter nor what it imports.
    from skel.rewriter.kernel.slice import SourceSlicer
    from skel.rewriter.kernel.standins import standins_of

    brought = {m.module: m for m in spec.modules}
    slicer = SourceSlicer(
        subject.text,
        subject.path,
        subject.module,
        spec.path.endswith("__init__.py"),
        standins_of(subject.module),
        lambda module, name: _brings(brought.get(module), name),
    )
    sliced = slicer.slice(spec.names)
    if sliced.missing:
        raise SliceError(f"nothing binds {', '.join(name for name, _ in sliced.missing)}", name=subject.module)
    return sliced.text


def _brings(module: SlicedModule | None, name: str) -> bool:
    from skel.rewriter.kernel.slice import SourceSlicer

    return module is not None and SourceSlicer(module.text, module.path, module.module, module.is_package).binds(name)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    text: str
    is_package: bool


class SliceFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of a slice before anything installed; other modules of the same package are not there."""

    def __init__(self, files: dict[str, _File]) -> None:
        self._files = files
        self._roots = {module.split(".")[0] for module in files}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a module of the slice. Raises ModuleNotFoundError for the package's other modules."""
        file = self._files.get(fullname)
        if file is None:
            if fullname.split(".")[0] in self._roots:
                raise ModuleNotFoundError(f"{fullname} is not part of the slice", name=fullname)
            return None
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=str(file.path), is_package=file.is_package)
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Runs the slice's text as the file's."""
        file = self._files[module.__name__]
        exec(compile(file.text, str(file.path), "exec", dont_inherit=True), module.__dict__)
        bind_late(module)
