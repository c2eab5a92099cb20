"""Where the database lies: the URL that was given, `SKEL_DB`, or the user's data folder."""

import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .errors import InaccessibleError, StoreError

VARIABLE = "SKEL_DB"
_SCHEMES = ("sqlite:///", "sqlite+pysqlite:///")


@dataclass(frozen=True, slots=True)
class Location:
    """The database's file, and whether the user chose it (then nothing else may be used in its place)."""

    path: Path
    chosen: bool


def locate(url: str | None) -> Location:
    """The file of `url`, else of `SKEL_DB`, else `skel.db` in the user's data folder.

    A URL is `sqlite:///relative.db`, `sqlite:////absolute.db`, or a plain path. Raises StoreError for another kind.
    """
    given = url if url is not None else os.environ.get(VARIABLE) or None
    if given is not None:
        return Location(_path_of(given), chosen=True)
    import platformdirs

    return Location(Path(platformdirs.user_data_dir("skel", appauthor=False)) / "skel.db", chosen=False)


def _path_of(url: str) -> Path:
    hint = "give sqlite:///PATH or the path of a file"
    for scheme in _SCHEMES:
        if url.startswith(scheme):
            url = url[len(scheme):]
            break
    else:
        if "://" in url or url == ":memory:":
            raise StoreError("only SQLite files are supported", url, hint)
    if not url or url == ":memory:" or "\0" in url:
        raise StoreError("names no database file", url or "sqlite:///", hint)
    return Path(url).expanduser().absolute()


def make_parent(path: Path, chosen: bool) -> None:
    """See that the folder of `path` is there and can be written; only that of a place the user did not choose is made.

    Raises InaccessibleError, StoreError for a chosen folder that does not exist: a slip of the pen makes no folders.
    """
    if chosen and not path.parent.exists():
        raise StoreError("the folder of the database does not exist", path.parent,
                         f"create it, or give another place with --db or {VARIABLE}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writable = os.access(path.parent, os.W_OK | os.X_OK) and (not path.exists() or os.access(path, os.W_OK))
        reason = "permission denied"
    except OSError as error:
        writable, reason = False, error.strerror or str(error)
    if not writable:
        raise InaccessibleError(f"the database cannot be written there ({reason})", path,
                                f"give another place with --db or {VARIABLE}, or make the folder writable")


def fallback_path() -> Path:
    """A database in a folder of the user's own under the system's temporary folder."""
    folder = Path(tempfile.gettempdir()) / f"skel-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    except OSError:
        own = False
    # Somebody else's folder of that name could swap the database under us.
    return (folder if own else Path(tempfile.mkdtemp(prefix="skel-"))) / "skel.db"
