"""What was mined of a skeleton, as `skel show` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skel.plain import plain

if TYPE_CHECKING:
    from skel.store.database import Database


def mined_of(database: Database, name: str) -> dict[str, Any]:
    """`occurrences`, each with all its places, and `claims` of commits. Raises StoreError."""
    from skel.store.mined_query import claims_of, occurrences_of

    found: dict[str, Any] = plain({"occurrences": occurrences_of(database, name), "claims": claims_of(database, name)})
    return found
