"""What the tests of the miner share: a cache and a database of their own, and a repository made on the spot."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Commit = Callable[..., str]


@pytest.fixture(autouse=True)
def own_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SKEL_SOURCES", str(tmp_path / "wheels"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "made"
    path.mkdir()
    git(path, "init", "--quiet", "--initial-branch=main")
    return path


def git(folder: Path, *words: str) -> str:
    """Run git there, as a person without any configuration."""
    known = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    done = subprocess.run(["git", *known, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, files: dict[str, str], message: str = "change") -> str:
    """Write the files, commit them, and return the commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", message)
    return git(folder, "rev-parse", "HEAD")
