"""Where a sidecar's `TARGET` lies: a file, or a file of a package that is installed or lies in a wheel.

A package is never imported: an installed one is found by its import path, a wheel or zip is read as an archive. Wheels
are looked for in the folders or files of the environment variable SKEL_SOURCES, else in `.cache/wheels` here.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skel.rewriter.resolve.archives import SUFFIXES, archive_of, is_file

SOURCES = "SKEL_SOURCES"
DEFAULT_SOURCES = ".cache/wheels"


class SidecarError(Exception):
    """The sidecar names no target, one that is not found, or not the file that is judged."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a sidecar says of its target, read without running it."""

    target: str
    package: str | None
    """`PACKAGE = "name==version"`: which distribution's file is meant, where several are at hand."""
    launchers: tuple[str, ...]
    tree: ast.Module


@dataclass(frozen=True, slots=True)
class Target:
    """A target file: its path (which may run through an archive), and its package where it is part of one."""

    path: Path
    root: Path | None = None
    """The folder or archive that holds the package."""
    relative: str | None = None
    """The file's path from there, with `/`."""

    @property
    def module(self) -> str | None:
        """The dotted name it has in its package."""
        if self.relative is None:
            return None
        return ".".join(PurePosixPath(self.relative).with_suffix("").parts).removesuffix(".__init__")


def read_declared(text: str, path: str) -> Declared:
    """TARGET, PACKAGE and LAUNCHERS of a sidecar. Raises SidecarError where they are missing or no plain values."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise SidecarError(f"{path} line {error.lineno}: {error.msg}") from error
    found: dict[str, tuple[object, int]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in ("TARGET", "PACKAGE", "LAUNCHERS"):
                try:
                    found[name] = ast.literal_eval(node.value), node.lineno
                except ValueError:
                    found[name] = None, node.lineno
    if "TARGET" not in found:
        raise SidecarError(f'{path} has no TARGET = "..."')
    for name in ("TARGET", "PACKAGE"):
        if name in found and not isinstance(found[name][0], str):
            raise SidecarError(f"{path} line {found[name][1]}: {name} must be a plain string")
    launchers, line = found.get("LAUNCHERS", ((), 0))
    if not isinstance(launchers, list | tuple) or not all(isinstance(one, str) for one in launchers):
        raise SidecarError(f"{path} line {line}: LAUNCHERS must be a list of plain strings")
    package = found["PACKAGE"][0] if "PACKAGE" in found else None
    return Declared(str(found["TARGET"][0]), None if package is None else str(package), tuple(launchers), tree)


def find_target(declared: Declared, sidecar: str) -> Target:
    """The target: beside the sidecar, else in an installed package, else in a wheel or folder of sources.

    Raises SidecarError where it is found nowhere, or in several distributions.
    """
    beside = (Path(sidecar).parent / declared.target).resolve()
    if is_file(beside):
        return in_package(beside)
    inside = PurePosixPath(declared.target)
    if inside.is_absolute() or ".." in inside.parts:
        raise SidecarError(f"{sidecar}: there is no file {beside}")
    roots = list(dict.fromkeys([*_installed(declared), *_sources(declared)]))
    if not roots:
        name = declared.package or "an installed package"
        raise SidecarError(f"{declared.target} was found neither beside {sidecar}, nor in {name}, nor in {_searched()}")
    if len(roots) > 1:
        places = ", ".join(map(str, roots))
        raise SidecarError(f'{declared.target} lies in several places ({places}): say PACKAGE = "name==version"')
    return Target(roots[0] / declared.target, roots[0], inside.as_posix())


def in_package(path: Path) -> Target:
    """The file with the package it is part of, by the `__init__.py` beside it and above."""
    # Absolute, since the parent of "." is "." for ever.
    absolute = path.absolute()
    root = absolute.parent
    while is_file(root / "__init__.py") and root != root.parent:
        root = root.parent
    if root == absolute.parent:
        return Target(path)
    return Target(absolute, root, absolute.relative_to(root).as_posix())


def wanted_names(declared: Declared, module: str | None) -> tuple[str, ...]:
    """Names of the target that the hooks need: LAUNCHERS, and what they import from its module."""
    names = dict.fromkeys(declared.launchers)
    for node in ast.walk(declared.tree):
        if isinstance(node, ast.ImportFrom) and node.module == module and not node.level:
            names |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and module is not None and ast.unparse(node.value) == module:
            names[node.attr] = None
    return tuple(names)


def _installed(declared: Declared) -> Iterator[Path]:
    """The folder an installed package lies in, if it holds the target."""
    first = PurePosixPath(declared.target).parts[0]
    try:
        spec = importlib.util.find_spec(first) if first.isidentifier() else None
    except (ImportError, ValueError):
        spec = None
    for location in (spec.submodule_search_locations or ()) if spec is not None else ():
        root = Path(location).resolve().parent
        if is_file(root / declared.target) and (declared.package is None or _is_version(declared.package)):
            yield root


def _is_version(package: str) -> bool:
    name, _, version = package.partition("==")
    try:
        installed = importlib.metadata.version(name.strip())
    except importlib.metadata.PackageNotFoundError:
        return False
    return not version or installed == version.strip()


def _sources(declared: Declared) -> Iterator[Path]:
    """Archives and folders of sources that hold the target, of the distribution that is meant."""
    for place in _places():
        entries = [place] if archive_of(place) else [place, *sorted(p for p in place.glob("*") if p.suffix in SUFFIXES)]
        for entry in entries:
            if is_file(entry / declared.target) and _is_distribution(entry, declared.package):
                yield entry.resolve()


def _is_distribution(entry: Path, package: str | None) -> bool:
    if package is None:
        return True
    name, _, version = (part.strip() for part in package.partition("=="))
    start = f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}"
    found = [entry.name] if archive_of(entry) else [p.name for p in entry.glob("*.dist-info")]
    return any(re.match(re.escape(start) + (r"[-.]" if version else ""), one.lower()) for one in found)


def _places() -> list[Path]:
    return [Path(p) for p in _searched().split(os.pathsep) if p and Path(p).exists()]


def _searched() -> str:
    return os.environ.get(SOURCES) or DEFAULT_SOURCES
