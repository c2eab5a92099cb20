"""`skel serve`: the tools for agents over MCP, on stdin and stdout."""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skel.faults import WrongUse

from .database import open_store
from .options import Db, Json
from .output import say

if TYPE_CHECKING:
    from skel.agent.roots import Roots
    from skel.store.database import Database

Root = Annotated[
    list[str], typer.Option("--root", metavar="DIR", help="A folder agents may use; by default the working directory.")
]


def command(roots: Root = [], as_json: Json = False, db: Db = None) -> int:  # noqa: B006
    """Serve search, scan, apply, check and the other tools to agents over MCP (stdio) until the client goes.

    Files are read and written under the given roots only; long work goes on when the client is gone, and get_job
    answers for it later. There is no network.
    """
    from skel.agent.server import build_server
    from skel.agent.session import Session
    from skel.agent.wire import mend_stdin

    database = open_store(db)
    session = Session(database, open_roots(roots))
    session.dispatcher.look_after()
    threading.Thread(target=_warm_up, args=(database,), daemon=True).start()
    say(f"skel: serving {', '.join(session.roots.names)}")
    # The transport takes the process's own stdout; commands are run with another in its place.
    sys.stdout = sys.__stdout__
    mend_stdin()
    build_server(session).run("stdio")
    return 0


def _warm_up(database: Database) -> None:
    """Make search ready while the client introduces itself. What cannot be used here is told by the first search."""
    from skel.store.errors import StoreError
    from skel.store.warm import warm_up

    with contextlib.suppress(StoreError):
        warm_up(database)


def open_roots(folders: list[str]) -> Roots:
    """The roots of a session. Raises WrongUse for one that is no folder."""
    from skel.agent.roots import Roots

    try:
        return Roots(tuple(map(Path, folders or ["."])))
    except OSError as error:
        raise WrongUse(f"--root {error.filename}: {error.strerror}", hint="name a folder that exists") from error
