"""Opening the store for a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skel.faults import WrongUse

from .output import say

if TYPE_CHECKING:
    from skel.store.database import Database


def open_store(url: str | None) -> Database:
    """The store at `url`, or the user's. Its warnings go to stderr.

    Raises WrongUse where the given `url` cannot be used, StoreError where the user's own store cannot.
    """
    from skel.store.database import open_database
    from skel.store.errors import StoreError

    try:
        database = open_database(url)
    except StoreError as error:
        if url is None:
            raise
        raise WrongUse(error.what, where=error.where, hint=error.hint) from error
    for warning in database.warnings:
        say(f"skel: {warning}")
    return database
