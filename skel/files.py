"""Reading and writing source files: bytes survive the round trip, and a file is written whole or not at all."""

from __future__ import annotations

import io
import os
import tempfile
import tokenize
from dataclasses import dataclass
from pathlib import Path

from skel.faults import WrongUse


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Python file's text with its line ends kept, and the encoding it was written in."""

    path: Path
    text: str
    encoding: str


def read_source(path: Path) -> SourceFile:
    """Read a Python file as its encoding line or mark says. Raises WrongUse where it cannot be decoded."""
    try:
        raw = _bytes_in_archive(path) if in_archive(path) else path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return SourceFile(path, raw.decode(encoding), encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path} cannot be decoded: {error}", hint="save it as UTF-8 or add an encoding line") from error
    except OSError as error:
        raise WrongUse(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error


def in_archive(path: Path) -> bool:
    """True for a file inside a wheel or zip: `dir/package.whl/folder/module.py`."""
    if not any(parent.suffix in (".whl", ".zip") for parent in path.parents):
        return False
    from skel.rewriter.resolve.archives import archive_of, is_file

    return archive_of(path) is not None and is_file(path)


def path_inside(path: Path) -> str:
    """The path as a patch names it: inside its archive where it lies in one, else as it is."""
    if not in_archive(path):
        return str(path)
    from skel.rewriter.resolve.archives import archive_of

    found = archive_of(path)
    assert found is not None
    return found[1]


def _bytes_in_archive(path: Path) -> bytes:
    from skel.rewriter.resolve.archives import read_file

    text = read_file(path)
    if text is None:
        raise WrongUse(f"{path} cannot be read", hint="it is too large, or not saved as UTF-8")
    return text.encode()


def write_whole(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Write `text` to `path` through a temporary file beside it. Raises WrongUse where that is not possible.

    A link is followed and the mode of an existing file is kept.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise WrongUse(f"{path} is no regular file", hint="name a file; devices, pipes and folders are never replaced")
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode(encoding))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        hint = "check that the folder exists and can be written"
        raise WrongUse(f"{path} cannot be written: {error.strerror}", hint=hint) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
