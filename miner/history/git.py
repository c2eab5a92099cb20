"""A git repository as a source: its commits with the files they changed, and the contents of files. Read only.

Nothing of the repository is checked out or run: hooks, filters, external diffs and lazy fetching are off.
"""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from skel.miner.errors import SourceError
from skel.miner.sources.git import environment

ABSENT = frozenset({"0" * 40, "0" * 64})
"""What stands for no file, where objects are named by SHA-1 and by SHA-256."""


class HistoryError(SourceError):
    """A history that cannot be read as a whole; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a commit. Blobs are object names; None where the file is not there on that side."""

    path: str
    before: str | None
    after: str | None
    old_path: str | None = None
    """The path before, where the commit renamed the file."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit with the files it changed against its first parent. Merges change none."""

    name: str
    parents: tuple[str, ...]
    time: int
    """Seconds since the epoch, of the commit."""
    message: str
    changes: tuple[Change, ...]

    @property
    def subject(self) -> str:
        return self.message.split("\n", 1)[0].strip()


class GitHistory:
    """The history of one repository, given as its working tree or its git directory."""

    def __init__(self, path: str | Path) -> None:
        """Raises HistoryError where the path holds no whole history."""
        self.path = Path(path)
        if not self.path.exists():
            raise HistoryError("there is no such folder", str(self.path), "give the repository's folder")
        if (self.path / ".git").exists():
            self._where = ["-C", str(self.path)]
        else:
            self._where = ["--git-dir", str(self.path)]
        shallow = self._read("rev-parse", "--is-shallow-repository").strip()
        if shallow == "true":
            raise HistoryError(
                "the history is cut short (a shallow clone)",
                str(self.path),
                "complete it with `git fetch --unshallow`",
                missing=True,
            )
        if not self._read("for-each-ref", "--count=1").strip():
            raise HistoryError("the repository has no branch and no tag", str(self.path), "commit or fetch something")

    def command(self, *arguments: str) -> list[str]:
        """A git command line for this repository."""
        safe = ("safe.directory=*", "core.hooksPath=/dev/null", "core.fsmonitor=false", "log.showSignature=false",
                "log.showRoot=true", "diff.orderFile=/dev/null")  # fmt: skip
        options = [word for setting in (*safe, "core.quotePath=false") for word in ("-c", setting)]
        return ["git", "--no-pager", *options, *self._where, *arguments]

    def environment(self) -> dict[str, str]:
        """The environment of git processes: no prompts, no fetching, and messages as they are."""
        # Older git knows no GIT_NO_LAZY_FETCH; without a protocol it runs nothing to fetch with either.
        more = {"GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C.UTF-8"}
        # `-c safe.directory` counts only for some commands, so it is given as configuration of the environment too.
        safe = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        return {**environment(), **more, **safe}

    def _read(self, *arguments: str) -> str:
        try:
            done = subprocess.run(
                self.command(*arguments), env=self.environment(), capture_output=True, check=False, timeout=120
            )
        except FileNotFoundError:
            raise HistoryError(
                "git is not installed", str(self.path), "install git: it reads the history", missing=True
            ) from None
        if done.returncode != 0:
            raise HistoryError(_last_line(done.stderr), str(self.path), "give a whole repository and its references")
        return done.stdout.decode("utf-8", "replace")

    def count(self, refs: Sequence[str] = ()) -> int:
        """Commits that `commits` yields."""
        return int(self._read("rev-list", "--count", *_revisions(refs)))

    def commits(self, refs: Sequence[str] = (), *, walk: bool = True) -> Iterator[Commit]:
        """Every commit of the references, parents first; of all references where none is named. Without `walk`, the
        commits that `refs` name and no others.

        Raises HistoryError where git cannot walk it, as where an object is missing.
        """
        mark = secrets.token_hex(8)
        layout = f"--format={mark}%H%x00%P%x00%ct%x00%B%x00"
        arguments = ["log", "--topo-order", "--reverse", "--raw", "--no-abbrev", "-M", "--no-ext-diff", "--no-color",
                     "--encoding=UTF-8"]  # fmt: skip
        if not walk:
            arguments = [*(a for a in arguments if a not in ("--topo-order", "--reverse")), "--no-walk=unsorted"]
        with subprocess.Popen(
            self.command(*arguments, layout, *_revisions(refs)),
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            lines: list[bytes] = []
            start = mark.encode()
            try:
                for line in process.stdout:
                    if line.startswith(start) and lines:
                        yield _commit(b"".join(lines), len(start))
                        lines = []
                    lines.append(line)
                if lines:
                    yield _commit(b"".join(lines), len(start))
                if process.wait() != 0:
                    raise HistoryError(
                        f"the history cannot be read: {_last_line(process.stderr.read())}",
                        str(self.path),
                        "fetch the repository again with all its history",
                        missing=True,
                    )
            finally:
                process.kill()

    def files(self, revision: str) -> dict[str, str]:
        """Blobs of one revision by path."""
        listing = self._read("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", revision)
        rows = (row.partition("\t") for row in listing.split("\0") if row.startswith("100"))
        return {path: about.split()[2] for about, _, path in rows}

    def blobs(self) -> Blobs:
        """A reader of file contents; use it in a `with`."""
        return Blobs(self)


class Blobs:
    """Contents of files by object name, through one long-lived git process."""

    def __init__(self, history: GitHistory) -> None:
        self._process = subprocess.Popen(
            history.command("cat-file", "--batch"),
            env=history.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Blobs:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def read(self, name: str) -> bytes | None:
        """The content of a blob, or None where the repository does not hold it. Raises HistoryError if git ends."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(name.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise HistoryError("git ended while it read files", "history", "run it again: it goes on") from None
        head = self._process.stdout.readline().split()
        if len(head) != 3:
            if len(head) == 2 and head[1] == b"missing":
                return None
            raise HistoryError(f"git cannot read {name}", "history", "check the repository with `git fsck`")
        content = self._process.stdout.read(int(head[2]))
        self._process.stdout.read(1)
        return content if head[1] == b"blob" else None


def _revisions(refs: Sequence[str]) -> list[str]:
    return ["--end-of-options", *refs, "--"] if refs else ["--all", "--"]


def _commit(record: bytes, skip: int) -> Commit:
    name, parents, time, rest = record[skip:].split(b"\0", 3)
    message, _, raw = rest.rpartition(b"\0")
    changes = (_change(line) for line in raw.decode("utf-8", "replace").splitlines() if line.startswith(":"))
    return Commit(
        name.decode(),
        tuple(parents.decode().split()),
        int(time or b"0"),  # a damaged commit states none
        message.decode("utf-8", "replace").strip(),
        tuple(c for c in changes if c is not None),
    )


def _change(line: str) -> Change | None:
    """One line of `--raw`; None for links and submodules, whose mode is no file's."""
    head, *paths = line[1:].split("\t")
    old_mode, new_mode, before, after, _ = head.split(" ")
    if not {old_mode, new_mode} <= {"000000", "100644", "100755"}:
        return None
    renamed = paths[0] if len(paths) == 2 else None
    return Change(paths[-1], before if before not in ABSENT else None, after if after not in ABSENT else None, renamed)


def _last_line(text: bytes) -> str:
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("fatal: ") if lines else "git gave no reason"
