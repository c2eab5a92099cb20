"""Finds what a piece of evidence needs to be run again: the file as it was, its sidecar, a GPU where it was timed."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skel.gpu import gpu_names

if TYPE_CHECKING:
    from skel.store.schema import Evidence

SIDECARS = Path("examples") / "sidecars"
"""Where sidecars are looked for: here, and beside skel's own packages."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that evidence is on, as it was, and the sidecar that runs it where it has one."""

    file: str
    text: str
    sidecar: str | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """Everything that is missing here, a sentence each."""

    sentences: tuple[str, ...]


def locate(before: Evidence) -> Found | Needs:
    """What it takes to run this evidence again; all of what is missing, not only the first of it."""
    from skel.store.canonical import sha256
    from skel.validation.workloads.naming import package_and_path

    missing = []
    if before.level == "timing" and not gpu_names():
        missing.append(f"there is no GPU here: it was timed on {_device(before)}")
    package, path = package_and_path(before.file)
    kept = before.rerun
    sidecar: str | None = None
    if package is not None or (kept is not None and kept.sidecar is not None):
        sidecar = _kept_sidecar(before, missing) if kept is not None and kept.sidecar else _sidecar_for(
            package, path, missing
        )
    file, text = _in_package(package, path, missing) if package is not None else _own(path, sidecar, missing)
    if text is not None and sha256(text) != before.source_sha256:
        missing.append(f"{before.file} is another text now: sha256 {before.source_sha256[:12]} is needed")
    if missing or text is None:
        return Needs(tuple(missing))
    return Found(file, text, sidecar)


def _device(before: Evidence) -> str:
    named = before.environment.architecture
    return f"{before.environment.device} ({named})" if named else before.environment.device


def _own(path: str, sidecar: str | None, missing: list[str]) -> tuple[str, str | None]:
    """Path and text of a file that no distribution is known of: where it was, else where its sidecar finds it."""
    from skel.files import read_source
    from skel.validation.workloads import SidecarError, target_of

    if Path(path).is_file():
        return path, read_source(Path(path)).text
    try:
        if sidecar is not None:
            return target_of(sidecar)
        missing.append(f"{path} is not here")
    except SidecarError as error:
        missing.append(str(error))
    return path, None


def _in_package(package: str, path: str, missing: list[str]) -> tuple[str, str | None]:
    """Path (it may run through a wheel) and text of a package's file."""
    from skel.rewriter.resolve.archives import read_file
    from skel.validation.workloads.target import DEFAULT_SOURCES, Declared, SidecarError, find_target

    try:
        found = find_target(Declared(path, package, (), ast.parse("")), "evidence")
    except SidecarError:
        get = f"pip download --no-deps {package} -d {DEFAULT_SOURCES}"
        missing.append(f"{package} is not here, or in several places ({path} is needed of it): {get}")
        return path, None
    text = read_file(found.path)
    if text is None:
        missing.append(f"{found.path} cannot be read")
    return str(found.path), text


def _kept_sidecar(before: Evidence, missing: list[str]) -> str | None:
    """The sidecar that is named in the evidence: where it lay, else any with that text."""
    from skel.store.canonical import sha256

    assert before.rerun is not None
    named, wanted = str(before.rerun.sidecar), before.rerun.sidecar_sha256
    for path in [Path(named), *_sidecars()]:
        if path.is_file() and wanted in (None, sha256(path.read_text(encoding="utf-8", errors="replace"))):
            return str(path)
        if wanted is None:
            break
    as_it_was = f" with sha256 {wanted[:12]}" if wanted else ""
    missing.append(f"the sidecar {named}{as_it_was} is not here, nor in {SIDECARS}")
    return None


def _sidecar_for(package: str | None, path: str, missing: list[str]) -> str | None:
    """The one sidecar whose TARGET is the file of that package."""
    fit = [one for one in _sidecars() if _is_for(one, package, path)]
    if len(fit) == 1:
        return str(fit[0])
    if fit:
        named = ", ".join(one.name for one in fit)
        missing.append(f"several sidecars are for {path} ({named}), and the evidence does not say which it was")
    else:
        missing.append(f'a sidecar with TARGET = "{path}" and PACKAGE = "{package}" is not in {SIDECARS}')
    return None


def _is_for(sidecar: Path, package: str | None, path: str) -> bool:
    from skel.validation.workloads.target import SidecarError, read_declared

    try:
        declared = read_declared(sidecar.read_text(encoding="utf-8"), str(sidecar))
    except (SidecarError, OSError, UnicodeDecodeError):
        return False
    return declared.target == path and _same_package(declared.package, package)


def _same_package(declared: str | None, package: str | None) -> bool:
    """A sidecar that names no package, or no version, is for any."""
    if declared is None or package is None:
        return True
    (name, _, version), (other, _, wanted) = (one.replace(" ", "").partition("==") for one in (declared, package))
    return _plain(name) == _plain(other) and version in ("", wanted)


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _sidecars() -> list[Path]:
    """All sidecars, each file once: those of the working directory, then those beside skel's packages."""
    found: dict[Path, Path] = {}
    for folder in (SIDECARS, Path(__file__).resolve().parents[1] / SIDECARS):
        for path in sorted(folder.glob("*.py")):
            found.setdefault(path.resolve(), path)
    return list(found.values())
