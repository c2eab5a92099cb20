"""The options that every command takes, and the parsing of option values that several share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skel.faults import WrongUse
from skel.files import in_archive

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout; everything else on stderr.")]
Db = Annotated[str | None, typer.Option("--db", metavar="URL", help="Database; by default SQLite in your data folder.")]
Scalar = str | int | float | bool


def parse_settings(pairs: list[str]) -> dict[str, Scalar]:
    """`["form=loop", "warps=2"]` as a dict with typed values. Raises WrongUse for a pair without a key."""
    settings: dict[str, Scalar] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            raise WrongUse(f"--set {pair!r} is not KEY=VALUE", hint="for example --set form=loop")
        if key in settings:
            raise WrongUse(f"--set {key} is given twice", hint="give each decision once")
        settings[key] = parse_scalar(value)
    return settings


def parse_scalar(text: str) -> Scalar:
    """`true` and `false` as bool, then int, then float, else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse_target_file(text: str) -> tuple[Path, str | None]:
    """`FILE[::KERNEL]` as a readable file and a kernel's name. Raises WrongUse for a missing file or a bad name."""
    kernel = parse_kernel(text)
    return existing_file(text.partition("::")[0]), kernel


def parse_kernel(text: str | None) -> str | None:
    """The kernel of `FILE::KERNEL`; None where there is none. Raises WrongUse for what cannot be a name."""
    _, colons, kernel = (text or "").partition("::")
    if colons and not kernel.isidentifier():
        raise WrongUse(f"{kernel!r} is not the name of a kernel", where=text, hint="write FILE::KERNEL")
    return kernel or None


def existing_file(text: str) -> Path:
    """The path of a readable regular file, which may lie inside a wheel or zip. Raises WrongUse."""
    path = Path(text)
    if in_archive(path):
        return path
    if not path.exists():
        raise WrongUse(f"there is no file {text}", hint="check the path; it is relative to the working directory")
    if not path.is_file():
        raise WrongUse(f"{text} is not a file", hint="name one Python file")
    return path
