"""How a file is named where its path would say nothing elsewhere: a package's file by distribution, version and place.

`somewhere/fla_core-0.6.0-py3-none-any.whl/fla/ops/kda/gate.py` is `fla-core==0.6.0:fla/ops/kda/gate.py` on any machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ..subject import Sidecar, Subject, sha256

if TYPE_CHECKING:
    from skel.store.schema import Rerun

_WHEEL = re.compile(r"(?P<name>[A-Za-z0-9._]+?)-(?P<version>[0-9][^-]*)(-[^-]+){3,4}\.whl")
"""Name and version of a wheel: the binary distribution format, File name convention."""
_PACKAGED = re.compile(r"(?P<package>[A-Za-z0-9._-]+==[^:/\\]+):(?P<path>.+)")


def name_of_file(subject: Subject) -> str:
    """`DISTRIBUTION==VERSION:PATH` for a file of a wheel or of an installed package; the place in its package where the
    distribution is not known; else the path as it was given. What a wheel is called suffices: it need not be here."""
    path = PurePosixPath(subject.path)
    for number, part in enumerate(path.parts):
        if wheel := _WHEEL.fullmatch(part):
            return _named(wheel["name"], wheel["version"], "/".join(path.parts[number + 1 :]))
    if subject.slice is None:
        return subject.path
    inside = PurePosixPath(subject.slice.path)
    root = Path(*path.parts[: -len(inside.parts)])
    for name, version in _distributions(root, inside.as_posix()):
        return _named(name, version, inside.as_posix())
    return inside.as_posix()


def package_and_path(name: str) -> tuple[str | None, str]:
    """The inverse of `name_of_file`: `DISTRIBUTION==VERSION` and the place in it, or None and the path."""
    found = _PACKAGED.fullmatch(name)
    return (found["package"], found["path"]) if found else (None, name)


def rerun_of(name: str, sidecar: Sidecar | None, pinned: Mapping[str, Any]) -> Rerun:
    """What running the file `name` (of `name_of_file`) again by its sidecar will need."""
    from skel.store.schema import Rerun

    package, path = package_and_path(name)
    if sidecar is None:
        return Rerun(package=package, path=path, settings=dict(pinned))
    return Rerun(
        package=package, path=path, sidecar=_here(sidecar.path), sidecar_sha256=sha256(sidecar.text),
        settings=dict(pinned),
    )


def _here(path: str) -> str:
    """Relative to the working directory; the name alone of what lies elsewhere: its folder says nothing to others."""
    absolute, here = Path(path).resolve(), Path.cwd().resolve()
    return absolute.relative_to(here).as_posix() if absolute.is_relative_to(here) else absolute.name


def _distributions(root: Path, inside: str) -> Iterator[tuple[str, str]]:
    """Name and version of what is installed in `root` and lists the file as its own."""
    for folder in sorted(root.glob("*.dist-info")):
        record = folder / "RECORD"
        if record.is_file() and any(line.startswith(f"{inside},") for line in record.read_text("utf-8").splitlines()):
            name, _, version = folder.name.removesuffix(".dist-info").rpartition("-")
            yield name, version


def _named(name: str, version: str, inside: str) -> str:
    return f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}:{inside}"
