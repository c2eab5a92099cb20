"""Finding a package's wheel or a repository on this machine, and fetching it where it is not there."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from skel.miner.errors import SourceError

from .caching import cache_folder, written_whole
from .git import run_git

SOURCES = "SKEL_SOURCES"
"""Environment variable: folders that hold wheels, or wheels."""
DEFAULT_SOURCES = ".cache/wheels"
_PLATFORM = (
    "--implementation",
    "cp",
    "--python-version",
    "3.11",
    "--platform",
    "manylinux_2_34_x86_64",
    "--platform",
    "manylinux2014_x86_64",
    "--platform",
    "any",
)
"""Wheels are read, not run: one platform's, so that every machine mines the same files."""


def find_wheel(name: str, version: str) -> Path:
    """The wheel of a package: in SKEL_SOURCES (else `.cache/wheels`), in the cache, or downloaded with pip.

    Raises SourceError where it cannot be had.
    """
    start = f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}-"
    kept = cache_folder("wheels")
    places = [Path(place) for place in (os.environ.get(SOURCES) or DEFAULT_SOURCES).split(os.pathsep) if place]
    for place in (*places, kept):
        for path in [place] if place.is_file() else sorted(place.glob("*.whl")):
            if path.name.lower().startswith(start) and path.suffix == ".whl" and path.exists():
                return path.resolve()
    return _download(name, version, kept)


def fetch_repository(url: str, revision: str) -> Path:
    """A mirror of a repository with every ref, kept in the cache; fetched again where it lacks `revision`.

    Raises SourceError where it cannot be had.
    """
    name = re.sub(r"[^A-Za-z0-9]+", "-", url.removesuffix(".git")).strip("-")[-60:]
    path = cache_folder("repositories") / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:8]}.git"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".clone-") as folder:
            partial = Path(folder) / "mirror.git"
            _fetching(url, None, "clone", "--quiet", "--mirror", "--", url, str(partial))
            partial.replace(path)
    elif not _holds(path, revision):
        _fetching(url, path, "fetch", "--quiet", "--prune", "origin")
    return path


def _holds(repository: Path, revision: str) -> bool:
    try:
        run_git(repository, "cat-file", "-e", f"{revision}^{{commit}}")
    except SourceError:
        return False
    return re.fullmatch(r"[0-9a-f]{40}", revision) is not None  # a branch or HEAD may have moved


def _fetching(url: str, repository: Path | None, *words: str) -> None:
    try:
        run_git(repository, *words)
    except SourceError as error:
        raise SourceError(
            error.what, url, "check the URL and the network, or name a clone that is here", missing=True
        ) from error


def _download(name: str, version: str, kept: Path) -> Path:
    requirement = f"{name}=={version}"
    hint = f"download it elsewhere with `pip download --no-deps {requirement}` and name its folder in {SOURCES}"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9._+!-]*", requirement):
        raise SourceError("is no package at a version", requirement, "write NAME==VERSION")
    with tempfile.TemporaryDirectory(prefix="skel-wheel-") as folder:
        # Wheels only: a source distribution would run its own code to say what it is.
        words = ("-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", *_PLATFORM, "--dest", folder)
        done = subprocess.run([sys.executable, *words, requirement], capture_output=True, text=True, check=False)
        found = sorted(Path(folder).glob("*.whl"))
        if done.returncode or not found:
            said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
            why = said[-1].removeprefix("ERROR:").strip() if said else "pip found no wheel"
            raise SourceError(f"could not be downloaded ({why})", requirement, hint, missing=True)
        target = kept / found[0].name
        with written_whole(target) as partial:
            shutil.copyfile(found[0], partial)
        return target
