"""Modules beside the one being read: where an imported helper is defined.

Only files on disk or in an archive are read, never imported: an absolute import is looked for from every parent folder
of the file, a relative one from its own package.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from .archives import is_file, is_folder, read_file

MAX_DEPTH = 8
"""Parents searched for the root of an absolute import."""


def find_import(path: str, dotted: str) -> tuple[Path, str] | None:
    """File and name behind an imported `dotted` name seen in the file `path`; None where no file holds it."""
    here = Path(path)
    if dotted.startswith("."):
        level = len(dotted) - len(dotted.lstrip("."))
        parts = dotted.lstrip(".").split(".")
        folder = here.parent
        for _ in range(level - 1):
            folder = folder.parent
        return _in_folder(folder, parts)
    parts = dotted.split(".")
    for folder in list(here.resolve().parents)[:MAX_DEPTH]:
        if is_folder(folder / parts[0]) or is_file(folder / f"{parts[0]}.py"):
            found = _in_folder(folder, parts)
            if found is not None:
                return found
    return None


def _in_folder(folder: Path, parts: list[str]) -> tuple[Path, str] | None:
    if len(parts) < 1:
        return None
    module, name = parts[:-1], parts[-1]
    base = folder.joinpath(*module)
    for candidate in (base.with_suffix(".py") if module else None, base / "__init__.py"):
        if candidate is not None and is_file(candidate):
            return candidate, name
    return None


@lru_cache(maxsize=512)
def read_text(path: Path) -> str | None:
    """Text of a helper's file, or None where it cannot be read."""
    return read_file(path)
