"""Drafts as files: one YAML each, for a person to name and finish. Those that were admitted lie in `known/`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import yaml

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
    """One file a draft, named by its hash; a draft that somebody finished keeps its `finished_as`. Gives the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for draft in drafts:
        path = folder / f"{draft.draft}.yaml"
        if path.exists() and draft.finished_as is None:
            before = Draft.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
            draft = draft.model_copy(update={"finished_as": before.finished_as})
        content = draft.model_dump(mode="json", exclude_defaults=True)
        partial = path.with_suffix(".partial")
        partial.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110), encoding="utf-8")
        partial.replace(path)
        written.append(path)
    return written
