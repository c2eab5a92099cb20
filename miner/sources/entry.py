"""One source as data: where it is, which revision, under what licence, and which of its files may hold kernels."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from skel.store.errors import RecordError
from skel.store.schema.base import Record
from skel.store.yaml_tree import dotted, read_tree

KERNEL_FILES = ("**/*.py", "**/*.cu", "**/*.cuh", "**/*.cpp", "**/*.hpp")
"""Files that may hold kernels, or bind and launch them, where an entry names none."""
NO_LICENCE = "NOASSERTION"
"""SPDX's word for a licence that nobody stated."""


class Entry(Record):
    """One source. Everything but `name`, `kind` and `where` may be left out."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """What reports and occurrences call it."""
    kind: Literal["package", "git", "folder"]
    where: str = Field(min_length=1)
    """The package's name, the repository's path or URL, or the folder."""
    revision: str | None = None
    """The package's version, or the commit, tag or branch; a folder's is the hash of what it holds."""
    licence: str | None = None
    """SPDX identifier; where it is left out, the source's own files are asked."""
    repository: str | None = None
    """The repository that a package is built from, or that others know a git source by: `owner/name`."""
    kernels: tuple[str, ...] = KERNEL_FILES
    """Globs of the files that may hold kernels; `**/` stands for any folders, also none."""
    excluded: tuple[str, ...] = ()
    """Globs of files among them that are other people's, or tests."""
    toolchain: dict[str, str] = Field(default_factory=dict)
    """Versions to compile the kernels with, for example `triton: 3.6.0`."""


def known_folder() -> Path:
    """Where the sources that ship lie, one YAML file each."""
    return Path(__file__).parent / "known"


@lru_cache(maxsize=1)
def known_entries() -> dict[str, Entry]:
    """The sources that ship, by name. Raises RecordError for a faulty file."""
    found = [load_entry(path) for path in sorted(known_folder().glob("*.yaml"))]
    return {entry.name: entry for entry in found}


def load_entry(path: Path) -> Entry:
    """One source from its YAML file. Raises RecordError with line and field."""
    tree = read_tree(path)
    if not isinstance(tree.data, dict):
        raise RecordError(path, tree.line(()), None, "a source is a mapping of fields")
    try:
        return Entry.model_validate(tree.data)
    except ValidationError as error:
        raise RecordError.of_all(
            [
                RecordError(path, tree.line(detail["loc"]), dotted(detail["loc"]), detail["msg"])
                for detail in error.errors(include_url=False)
            ]
        ) from error
