"""Sources that were made to mislead: nothing runs, nothing hangs, and what cannot be read is said."""

from __future__ import annotations

import lzma
import os
import zipfile
from pathlib import Path

import pytest

from skel.miner.errors import SourceError
from skel.miner.sources import open_source
from skel.miner.sources.opening import entry_of
from skel.rewriter.resolve.archives import read_file
from tests.miner.conftest import commit, git


@pytest.mark.parametrize(
    "spec", ["a" * 300, "~no-such-user/x", "two words==1", "a/b==1", "==1", "--upload-pack=x==1", "", " "]
)
def test_what_names_nothing_is_said(spec: str) -> None:
    with pytest.raises(SourceError, match="is no source that can be found"):
        entry_of(spec)


@pytest.mark.parametrize("kind", ["folder", "git", "package"])
@pytest.mark.parametrize("where", ["a\\0b", "~no-such-user/x.whl", "a" * 5000])
def test_a_place_that_cannot_be_one_is_said(tmp_path: Path, kind: str, where: str) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(f'name: one\nkind: {kind}\nwhere: "{where}"\nrevision: "1"\n')
    with pytest.raises(SourceError, match="cannot be looked up"):
        open_source(str(path))


@pytest.mark.parametrize("text", [b"gitdir: a/b\n", b"gitdir: a\0b\n", b"gitdir: " + b"a" * 5000])
def test_a_git_file_that_leads_nowhere_makes_a_plain_folder(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "it/a/b").mkdir(parents=True)
    (tmp_path / "it/.git").write_bytes(text)
    assert open_source(str(tmp_path / "it")).kind == "folder"


def test_a_submodule_and_a_second_work_tree_are_read_at_their_own_commits(repository: Path, tmp_path: Path) -> None:
    first = commit(repository, {"a.py": "x = 1\n"})
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "--quiet")
    git(outer, "submodule", "--quiet", "add", str(repository), "sub")
    commit(outer, {"b.py": "y = 1\n"})
    assert open_source(str(outer / "sub")).revision == first
    commit(repository, {"a.py": "x = 2\n"})
    git(repository, "worktree", "add", "--quiet", "--detach", str(tmp_path / "second"), first)
    second = open_source(str(tmp_path / "second"))
    assert second.revision == first and dict(second.files()) == {"a.py": b"x = 1\n"}


def test_names_that_are_no_utf8_can_be_stored(repository: Path) -> None:
    (Path(os.fsdecode(os.fsencode(repository) + b"/k\xff.py"))).write_text("x = 1\n")
    commit(repository, {})
    assert [name for name, _ in open_source(str(repository)).files()] == ["k\\xff.py"]
    git(repository, "rev-parse", "HEAD")
    assert zipfile.is_zipfile(open_source(str(repository)).root)


def test_more_than_fits_in_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skel.miner.sources.source.MAX_TOTAL", 1_000_000)
    path = tmp_path / "many-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"many/{number}.py", "#" * 400_000)
    with pytest.raises(SourceError, match="more than 1 MB"):
        list(open_source(str(path)).files())


def test_damaged_lzma_is_said_and_never_raised_from_a_lookup(tmp_path: Path) -> None:
    path = tmp_path / "packed-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("p/a.py", "x = 1\n" * 500)
    data = bytearray(path.read_bytes())
    start = data.index(b"p/a.py") + len(b"p/a.py") + 9
    data[start : start + 30] = b"\xff" * 30
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive, pytest.raises(lzma.LZMAError):
        archive.read("p/a.py")
    with pytest.raises(SourceError, match="archive is broken"):
        list(open_source(str(path)).files())
    assert read_file(path / "p/a.py") is None
