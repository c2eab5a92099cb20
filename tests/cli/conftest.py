"""What the tests of the commands share: running a command in this process, and a database filled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.cli import main
from tests.cli.running import Ended, Skel


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a database filled from the packaged skeletons."""
    return f"sqlite:///{tmp_path_factory.mktemp('store') / 'skel.db'}"


@pytest.fixture
def skel(capsys: pytest.CaptureFixture[str], database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Skel:
    """Runs `skel WORDS... --db DATABASE` in an empty folder."""
    monkeypatch.setenv("SKEL_DB", database)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)

    def run(*words: str) -> Ended:
        capsys.readouterr()
        status = main(list(words))
        captured = capsys.readouterr()
        return Ended(status, captured.out, captured.err)

    return run
