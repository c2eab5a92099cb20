"""What the agent's tests share: a filled database of one's own, a root with kernels in it, and a session on both."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from skel.agent.roots import Roots
from skel.agent.session import Session
from skel.store.database import Database, open_database
from tests.agent.calling import Place, quiet

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database filled from the packaged skeletons, in one file."""
    path = tmp_path_factory.mktemp("store") / "filled.db"
    open_database(str(path))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def place(tmp_path: Path, filled: Path) -> Place:
    """A root with two kernels, a database in another folder, and a secret outside both."""
    for name in ("root", "data", "outside"):
        (tmp_path / name).mkdir()
    shutil.copy(filled, tmp_path / "data" / "skel.db")
    for name in ("kda_decode.py", "gated_norm.py"):
        shutil.copy(EXAMPLES / name, tmp_path / "root" / name)
    (tmp_path / "outside" / "secret.py").write_text("SECRET = 'nobody may see this'\n")
    return Place(tmp_path / "root", tmp_path / "data" / "skel.db", tmp_path / "outside" / "secret.py")


@pytest.fixture
def database(place: Place) -> Database:
    """The database of the place."""
    return open_database(str(place.database))


@pytest.fixture
def session(place: Place, database: Database) -> Session:
    """A session whose jobs are done by processes, as everywhere."""
    return Session(database, Roots((place.root,)))


@pytest.fixture
def idle(session: Session, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose jobs stay in the queue: for what comes before them."""
    quiet(session, monkeypatch)
    return session
