"""The session as tools see it: tools are listed before the session that calls them is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from skel.store.database import Database

    from .roots import Roots


class Submits(Protocol):
    """Queues jobs."""

    def submit(self, tool: str, roots: tuple[str, ...], request: dict[str, Any]) -> str:
        """The id of the job. Raises CallError(queue_full)."""
        ...

    def look_after(self) -> None:
        """See that somebody works on what waits."""
        ...


class Session(Protocol):
    """A database, some roots, and a queue."""

    database: Database
    roots: Roots
    dispatcher: Submits
