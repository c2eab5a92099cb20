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
        raw = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return SourceFile(path, raw.decode(encoding), encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path} cannot be decoded: {error}", hint="save it as UTF-8 or add an encoding line") from error
    except OSError as error:
        raise WrongUse(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error


def write_whole(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Write `text` to `path` through a temporary file beside it. Raises WrongUse where that is not possible.

    A link is followed and the mode of an existing file is kept.
    """
    target = path.resolve()
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
