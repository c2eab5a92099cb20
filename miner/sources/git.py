"""A git repository at one commit, read through git's own plumbing; nothing is checked out and no hook runs."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from skel.miner.errors import SourceError

from .caching import cache_folder, written_whole
from .entry import NO_LICENCE, Entry
from .licences import licence_files, licence_of_text
from .source import MAX_BYTES, Source

_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "LC_ALL": "C",
}
"""No questions, no fetching of what a partial clone lacks, no writing, no transports that run commands."""


@dataclass(frozen=True)
class GitSource(Source):
    """A repository at a commit."""

    git: Path
    """The folder of the repository's objects."""

    @property
    def repository(self) -> Path:
        return self.git

    @cached_property
    def has_full_history(self) -> bool:
        shallow = run_git(self.git, "rev-parse", "--is-shallow-repository").decode().strip()
        return shallow == "false"

    @cached_property
    def root(self) -> Path:
        """An archive of the files that may hold kernels, kept in the cache by commit."""
        chosen = hashlib.sha256(repr((self.entry.kernels, self.entry.excluded)).encode()).hexdigest()[:8]
        path = cache_folder("trees") / f"{self.name}-{self.revision}-{chosen}.zip"
        if not path.exists():
            with written_whole(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as out:
                for name, data in self.files():
                    out.writestr(name, data)
        return path

    @cached_property
    def _blobs(self) -> dict[str, tuple[str, int]]:
        listing = run_git(self.git, "ls-tree", "-r", "-z", "-l", "--full-tree", self.revision)
        found = {}
        for line in listing.decode("utf-8", "surrogateescape").split("\0"):
            about, _, name = line.partition("\t")
            if about.startswith("100"):  # no links, no submodules
                _, _, blob, size = about.split()
                found[name] = (blob, int(size) if size.isdigit() else 0)  # no size: the object is missing
        return found

    def names(self) -> list[str]:
        return sorted(self._blobs)

    def contents(self, names: list[str]) -> Iterator[tuple[str, bytes]]:
        wanted = [name for name in names if name in self._blobs and self._blobs[name][1] <= MAX_BYTES]
        yield from zip(wanted, read_blobs(self.git, [self._blobs[name][0] for name in wanted]), strict=True)


def open_repository(entry: Entry, git: Path, revision: str) -> GitSource:
    """The source at a commit, tag or branch. Raises SourceError where the repository does not hold it."""
    folder = objects_folder(git)
    if folder is None:
        raise SourceError("is no git repository", str(git), "name a clone, bare or not")
    try:
        commit = run_git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except SourceError as error:
        shallow = run_git(folder, "rev-parse", "--is-shallow-repository").strip() == b"true"
        raise SourceError(
            f"there is no commit {revision}" + (": the history is cut short" if shallow else ""),
            str(git),
            "fetch the rest with `git fetch --unshallow`" if shallow else "fetch it, or name another revision",
            missing=True,
        ) from error
    draft = GitSource(entry, commit.decode().strip(), entry.licence or NO_LICENCE, folder)
    return draft if entry.licence else GitSource(entry, draft.revision, _licence(draft), folder)


def objects_folder(path: Path) -> Path | None:
    """The folder of a repository's objects: the path itself for a bare one, its `.git` for a clone; else None."""
    for folder in (path / ".git", path):
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            return folder.resolve()
    if (path / ".git").is_file():  # a submodule, or another work tree, with a HEAD of its own
        with (path / ".git").open("rb") as file:
            text = os.fsdecode(file.read(4096)).removeprefix("gitdir:").strip()
        folder = path / text
        try:
            if (folder / "HEAD").is_file() and ((folder / "objects").is_dir() or (folder / "commondir").is_file()):
                return folder.resolve()
        except (OSError, ValueError):  # no name of a file
            return None
    return None


def run_git(repository: Path | None, *words: str) -> bytes:
    """What a git command prints. Raises SourceError with git's own message."""
    where = str(repository or words[-1])
    try:
        done = subprocess.run(_command(repository, *words), capture_output=True, env=environment(), check=False)
    except OSError as error:
        raise SourceError(f"git cannot be run ({error.strerror})", where, "install git", missing=True) from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SourceError(
            f"git {words[0]} failed" + (f": {said[-1]}" if said else ""),
            where,
            "check the repository with `git fsck`, or name another",
        )
    return done.stdout


def read_blobs(repository: Path, blobs: list[str]) -> Iterator[bytes]:
    """The contents of blobs, in order. Raises SourceError for one that the repository lacks."""
    if not blobs:
        return
    with subprocess.Popen(
        _command(repository, "cat-file", "--batch"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            for blob in blobs:
                process.stdin.write(f"{blob}\n".encode())
                process.stdin.flush()
                head = process.stdout.readline().split()
                if len(head) != 3:
                    raise SourceError(
                        f"the object {blob} is not there: a partial clone, or a damaged one",
                        str(repository),
                        "fetch the repository whole",
                        missing=True,
                    )
                data = process.stdout.read(int(head[2]))
                process.stdout.read(1)
                yield data
        finally:
            process.stdin.close()
            process.kill()


def _command(repository: Path | None, *words: str) -> list[str]:
    if repository is None:
        return ["git", *words]
    # The user named this folder: git need not ask who owns it, since nothing in it is run.
    return ["git", "-c", f"safe.directory={repository}", f"--git-dir={repository}", *words]


def environment() -> dict[str, str]:
    """The environment of git processes that fetch nothing by themselves, without settings of the caller's git."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return kept | _ENVIRONMENT


def _licence(source: GitSource) -> str:
    texts = source.contents(licence_files(source.names()))
    return next((licence_of_text(data.decode("utf-8", "replace")) for _, data in texts), NO_LICENCE)
