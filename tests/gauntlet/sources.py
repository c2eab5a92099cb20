"""The Triton files of the packages that the gauntlet runs over, unpacked from their wheels. Nothing is imported."""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("fla_core-0.5.2", "fla_core-0.6.0", "sglang-0.5.23")
"""Starts of the wheels' names."""
WORK = ROOT / ".cache" / "gauntlet"
"""Where everything goes that can be made again."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file: the package it is of, its path in it with `/`, and where it lies unpacked."""

    package: str
    path: str
    file: Path

    @property
    def name(self) -> str:
        return f"{self.package}/{self.path}"

    @property
    def module(self) -> str:
        """The dotted name it is imported under."""
        return self.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def wheel(package: str) -> Path | None:
    """The wheel of a package in the folders of SKEL_SOURCES or in .cache/wheels; None where it was not downloaded."""
    places = [*os.environ.get("SKEL_SOURCES", "").split(os.pathsep), str(ROOT / ".cache" / "wheels")]
    found = [path for place in places if place for path in sorted(Path(place).glob(f"{package}-*.whl"))]
    return found[0] if found else None


def unpacked(package: str, work: Path = WORK) -> Path:
    """The folder with the package's Python files, unpacked once. Raises FileNotFoundError without its wheel."""
    folder = work / "sources" / package
    if not folder.exists():
        archive_file = wheel(package)
        if archive_file is None:
            raise FileNotFoundError(f"no wheel of {package} in SKEL_SOURCES or .cache/wheels")
        part = folder.with_suffix(".part")
        with zipfile.ZipFile(archive_file) as archive:
            archive.extractall(part, [n for n in archive.namelist() if n.endswith(".py")])
        part.rename(folder)
    return folder


def triton_files(package: str, work: Path = WORK) -> list[Source]:
    """Every file of the package that speaks of Triton's decorator."""
    folder = unpacked(package, work)
    files = sorted(path for path in folder.rglob("*.py") if b"triton.jit" in path.read_bytes())
    return [Source(package, path.relative_to(folder).as_posix(), path) for path in files]
