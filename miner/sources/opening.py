"""From what a user writes to an open source."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError

from skel.miner.errors import SourceError
from skel.store.errors import RecordError

from .archive import open_package
from .entry import Entry, known_entries, load_entry
from .fetching import fetch_repository, find_wheel
from .folder import open_folder
from .git import objects_folder, open_repository
from .source import Source

_HINT = "name a known source, NAME==VERSION, a repository with @REVISION, a folder, a wheel, or a source's YAML file"


def open_source(spec: str) -> Source:
    """The source that `spec` names.

    - `fla-core`: a known source, at the revision that its entry pins; `fla-core@REVISION` at another
    - `fla-core==0.6.0`: a package at a version, with the known entry's globs and licence where there is one
    - `path/to/repository@REVISION`, `https://.../name.git@REVISION`: git, at HEAD where no revision is given
    - `path/to/folder`, `path/to/name-1.0-py3-none-any.whl`
    - `path/to/source.yaml`: an entry of your own

    Raises SourceError where it cannot be found, fetched or read.
    """
    return open_entry(entry_of(spec))


def entry_of(spec: str) -> Entry:
    """The entry behind `spec`, known or made for it. Raises SourceError."""
    if not spec.strip():
        raise SourceError("is no source that can be found", repr(spec), _HINT)
    try:
        return _entry_of(spec)
    except (ValidationError, OSError, RuntimeError) as error:  # no name of a package, of a file, of a user
        raise SourceError("is no source that can be found", spec[:200], _HINT) from error


def _entry_of(spec: str) -> Entry:
    path = Path(spec)
    if path.suffix in (".yaml", ".yml"):
        try:
            return load_entry(path)
        except RecordError as error:
            raise SourceError(
                error.message,
                f"{error.file}" + (f":{error.line}" if error.line else ""),
                "a source has name, kind and where; see the known ones",
            ) from error
    name, equals, version = (part.strip() for part in spec.partition("=="))
    if equals:
        known = _known(name)
        entry = known if known is not None and known.kind == "package" else Entry(name=name, kind="package", where=name)
        return entry.model_copy(update={"revision": version})
    known = _known(spec)
    if known is not None:
        return known
    return _at_place(spec)


def open_entry(entry: Entry) -> Source:
    """The source of an entry, fetched where it is not here. Raises SourceError."""
    if entry.kind == "folder":
        return open_folder(entry, _place(entry))
    if entry.kind == "git":
        revision = entry.revision or "HEAD"
        place = _place(entry)
        return open_repository(entry, place if place.exists() else fetch_repository(entry.where, revision), revision)
    place = _place(entry)
    if place.suffix in (".whl", ".zip"):
        if not place.is_file():
            raise SourceError("there is no such file", entry.where, _HINT)
        return open_package(entry, place, entry.revision or "0")
    if entry.revision is None:
        raise SourceError("no version is given", entry.name, f"write {entry.name}==VERSION")
    return open_package(entry, find_wheel(entry.where, entry.revision), entry.revision)


def _known(name: str) -> Entry | None:
    """The known source of that name; `fla_core` is `fla-core`."""
    known = known_entries()
    return known.get(name) or known.get(re.sub(r"[-_.]+", "-", name).lower())


def _place(entry: Entry) -> Path:
    """Where the entry points, as a path, there or not. Raises SourceError for what cannot be one."""
    try:
        path = Path(entry.where).expanduser()
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return path
    except (OSError, RuntimeError, ValueError) as error:
        raise SourceError("cannot be looked up", repr(entry.where[:200]), "check `where` of the source") from error
    return path


def _at_place(spec: str) -> Entry:
    place, revision = _split_revision(spec)
    known = _known(place)
    if known is not None and revision is not None:
        return known.model_copy(update={"revision": revision})
    path = Path(place).expanduser()
    if path.suffix in (".whl", ".zip") and path.is_file():
        # NAME-VERSION-..., as wheels are called; anything else is named by its file.
        parts = path.name.removesuffix(path.suffix).split("-")
        version = parts[1] if len(parts) > 2 else None
        name = parts[0].replace("_", "-") if version else path.stem
        return Entry(name=_name(name), kind="package", where=str(path), revision=version)
    if path.is_dir() and objects_folder(path) is not None:
        return Entry(name=_name(_repository_name(path)), kind="git", where=str(path), revision=revision)
    if path.is_dir():
        return Entry(name=_name(path.resolve().name), kind="folder", where=str(path))
    if "://" in place or re.match(r"[\w.-]+@[\w.-]+:", place):
        return Entry(
            name=_name(place.removesuffix(".git").rsplit("/", 1)[-1]), kind="git", where=place, revision=revision
        )
    raise SourceError("is no source that can be found", spec, _HINT)


def _split_revision(spec: str) -> tuple[str, str | None]:
    """`place@revision`; the `@` of `user@host:path`, and of a path that exists, is part of the place."""
    place, at, revision = spec.rpartition("@")
    if not at or Path(spec).exists() or ("/" in revision and ":" in revision) or not place:
        return spec, None
    return (spec, None) if re.match(r"[\w.-]+:", revision) else (place, revision)


def _repository_name(path: Path) -> str:
    resolved = path.resolve()
    plain = resolved.name.removesuffix(".git")
    return plain if plain not in ("", "repo", "repository", "mirror") else resolved.parent.name


def _name(text: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    return plain[:64] or "source"
