"""Drafts as files: one YAML each, for a person to name and finish. Those that were admitted lie in `known/`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import yaml

from skel.miner.errors import SourceError
from skel.miner.sources.caching import written_whole

from .draft import Draft


def known_drafts() -> tuple[Draft, ...]:
    """The drafts that were admitted so far, by name; those that somebody finished say as what."""
    folder = files(__package__).joinpath("known")
    return tuple(
        Draft.model_validate(yaml.safe_load(entry.read_text(encoding="utf-8")))
        for entry in sorted(folder.iterdir(), key=lambda e: e.name)
        if entry.name.endswith(".yaml")
    )


def read_drafts(folder: Path) -> tuple[Draft, ...]:
    """The drafts of a folder, by file name. Raises ValueError for a file that is no draft."""
    return tuple(
        Draft.model_validate(yaml.safe_load(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.yaml"))
    )


def write_drafts(drafts: Iterable[Draft], folder: Path) -> list[Path]:
    """One file a draft, named by its hash; a draft that somebody finished keeps its `finished_as`. Gives the paths.

    Raises SourceError for a folder that cannot be written, and a file of such a name that is no draft.
    """
    try:
        return _written(drafts, folder)
    except OSError as error:
        raise SourceError(f"drafts cannot be written ({error.strerror or error})", str(error.filename or folder),
                          "name a folder that can be written, with space left", missing=True) from error  # fmt: skip


def _written(drafts: Iterable[Draft], folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for draft in drafts:
        path = folder / f"{draft.draft}.yaml"
        if path.exists() and draft.finished_as is None:
            try:
                before = Draft.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
            except (ValueError, yaml.YAMLError) as error:
                raise SourceError("is no draft, and is not written over", str(path), "move it away") from error
            draft = draft.model_copy(update={"finished_as": before.finished_as})
        content = draft.model_dump(mode="json", exclude_defaults=True)
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
        with written_whole(path) as partial:
            partial.write_text(text, encoding="utf-8")
        written.append(path)
    return written
