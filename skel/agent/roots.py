"""The folders that a session may use. Links are followed first, and what was opened is what is judged."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
import tokenize
from dataclasses import dataclass
from pathlib import Path

from .errors import CallError
from .limits import LIMITS

_READING = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW
_NAME = 240
"""Most bytes of a name; what is written gets a longer one for a moment."""
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class Source:
    """A source file under a root."""

    path: Path
    """Absolute, links followed."""
    text: str
    encoding: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


class Roots:
    """Folders whose files may be read, and in which files may be written."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = tuple(dict.fromkeys(folder.resolve(strict=True) for folder in folders))
        if not self.folders or not all(folder.is_dir() for folder in self.folders):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folders[0]) if folders else ".")

    @property
    def names(self) -> tuple[str, ...]:
        """The folders as text, sorted: by this a job knows its sessions."""
        return tuple(sorted(map(str, self.folders)))

    def locate(self, path: str) -> Path:
        """Where a path leads, links followed; relative ones start at the first root. Raises CallError."""
        if "\0" in path or len(path) > 4096 or any(len(os.fsencode(part)) > _NAME for part in path.split("/")):
            raise CallError("unreadable_file", path=path[:80].replace("\0", "?"), why="it is no path")
        real = Path(os.path.realpath(self.folders[0] / path))
        if not self.holds(real):
            raise CallError("outside_roots", path=path[:200], roots=", ".join(self.names))
        return real

    def shown(self, real: Path) -> str:
        """A path under a root as answers name it: relative to the first root where it lies there."""
        first = self.folders[0]
        return str(real.relative_to(first)) if first in real.parents else str(real)

    def holds(self, real: Path) -> bool:
        """Whether a path without links lies under a root."""
        return any(real == folder or folder in real.parents for folder in self.folders)

    def read(self, path: str) -> Source:
        """The text of a source file. Raises CallError."""
        real = self.locate(path)
        descriptor = self._open(real, _READING, path)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise CallError("unreadable_file", path=path[:200], why="it is no regular file")
        with open(descriptor, "rb") as file:
            raw = file.read(LIMITS.file_bytes + 1)
        if len(raw) > LIMITS.file_bytes:
            raise CallError("too_large", what=path[:200], limit=f"{LIMITS.file_bytes} bytes")
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
            text = raw.decode(encoding)
        except (SyntaxError, UnicodeDecodeError, LookupError) as error:
            raise CallError("unreadable_file", path=path[:200], why=f"it cannot be decoded: {error}") from error
        if "\0" in text:
            raise CallError("unreadable_file", path=path[:200], why="it holds NUL characters")
        return Source(real, text, encoding)

    def file(self, path: str) -> Path:
        """A workload under a root: a capture or a source file, of a size that can be read. Raises CallError."""
        real = self.locate(path)
        if not real.is_file():
            raise CallError("no_such_file", path=path[:200])
        most = LIMITS.capture_bytes if real.suffix == ".zip" else LIMITS.file_bytes
        if real.stat().st_size > most:
            raise CallError("too_large", what=path[:200], limit=f"{most} bytes")
        return real

    def destination(self, path: str, suffix: str = ".py") -> Path:
        """Where a file may be written: one of that suffix in an existing folder under a root. Raises CallError."""
        name = os.path.basename(path)
        if not name.endswith(suffix) or name.startswith(".") or not name.isprintable() or "\0" in path:
            raise CallError("unreadable_file", path=path[:200], why=f"a result is written to a file NAME{suffix}")
        if len(os.fsencode(name)) > _NAME - len(".12345678.part"):
            raise CallError("unreadable_file", path=path[:80], why="its name is too long")
        parent = self.locate(os.path.dirname(path) or ".")
        if not parent.is_dir():
            raise CallError("no_such_file", path=str(parent))
        return parent / name

    def write(self, path: Path, content: bytes) -> None:
        """Write a file whole or not at all, never through a link. `path` comes from `destination`. Raises CallError."""
        folder = self._open(path.parent, _FOLDER, str(path.parent))
        part = f".{path.name}.{os.getpid()}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(part, flags, 0o644, dir_fd=folder)
            try:
                with open(descriptor, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(part, dir_fd=folder)
                raise
        except OSError as error:
            raise CallError("unreadable_file", path=str(path), why=error.strerror or str(error)) from error
        finally:
            os.close(folder)

    def _open(self, real: Path, flags: int, shown: str) -> int:
        """A descriptor of a file or folder that, as opened, lies under a root: a path may change in between."""
        try:
            descriptor = os.open(real, flags)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise CallError("no_such_file", path=shown[:200]) from error
        except OSError as error:
            raise CallError("unreadable_file", path=shown[:200], why=error.strerror or str(error)) from error
        if not self.holds(Path(os.readlink(f"/proc/self/fd/{descriptor}"))):
            os.close(descriptor)
            raise CallError("outside_roots", path=shown[:200], roots=", ".join(self.names))
        return descriptor
