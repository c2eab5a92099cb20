"""Loads a text as a module, in a worker: written to a fresh folder (Triton reads sources from files), run from there.

Path and hash of what was loaded are handed back, so that the caller can hold them against what was meant.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ..subject import Subject
from .late_names import bind_late
from .slices import load_slice


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded subject: the module of the text, the module that holds the hooks, and what really ran."""

    module: ModuleType
    hooks_module: ModuleType
    path: str

    def facts(self) -> dict[str, str]:
        """Path and hash of the file as it is now; the caller holds both against what was meant, before and after."""
        return {"path": self.path, "sha256": hashlib.sha256(Path(self.path).read_bytes()).hexdigest()}


def load_subject(subject: Subject, folder: Path) -> Loaded:
    """Writes the text into `folder`, imports it under its module name, then the sidecar if there is one.

    Raises whatever the module raises while it is imported.
    """
    path = folder / Path(subject.path).name
    if subject.slice is not None:
        # The folder of a package's file is no place to import from: its modules have longer names.
        path.write_bytes(subject.text.encode())
        module = load_slice(subject, path)
    else:
        if str(Path(subject.path).resolve().parent) not in sys.path:
            sys.path.insert(0, str(Path(subject.path).resolve().parent))
        module = _run_file(path, subject.text, _free_name(subject.module))
    hooks_module = module
    if subject.sidecar is not None:
        sidecar_folder = folder / "sidecar"
        sidecar_folder.mkdir()
        name = Path(subject.sidecar.path).name
        hooks_module = _run_file(sidecar_folder / name, subject.sidecar.text, f"skel_sidecar_{Path(name).stem}")
    return Loaded(module, hooks_module, str(module.__file__))


def _free_name(name: str) -> str:
    """The module name, unless a library already has it: then the file could never be imported by it anyway."""
    return name if name not in sys.modules else f"skel_target_{name}"


def _run_file(path: Path, text: str, name: str) -> ModuleType:
    path.write_bytes(text.encode())
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} cannot be imported: it is no Python source file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    bind_late(module)
    return module
