"""Sources of every kind, and what is said where one cannot be read."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from skel.miner.errors import SourceError
from skel.miner.sources import Entry, known_entries, open_source
from skel.miner.sources.licences import licence_of_text
from skel.miner.sources.source import is_kernel_file
from tests.miner.conftest import commit, git

MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"


def wheel(folder: Path, files: dict[str, str], name: str = "thing", version: str = "1.0") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, text in files.items():
            archive.writestr(member, text)
        archive.writestr(f"{name}-{version}.dist-info/METADATA", "Name: thing\nLicense-Expression: BSD-3-Clause\n")
    return path


def test_every_known_source_states_its_revision_and_licence() -> None:
    assert {"fla-core", "sglang", "sgl-deep-gemm"} <= set(known_entries())
    for entry in known_entries().values():
        assert entry.revision and entry.licence and entry.kernels


def test_a_package_is_found_in_the_folder_of_wheels_and_read_as_an_archive(tmp_path: Path) -> None:
    path = wheel(tmp_path / "wheels", {"thing/a.py": "x = 1\n", "thing/b.cuh": "//", "thing/c.txt": "no"})
    source = open_source("thing==1.0")
    assert (source.name, source.kind, source.revision, source.licence) == ("thing", "package", "1.0", "BSD-3-Clause")
    assert dict(source.files()) == {"thing/a.py": b"x = 1\n", "thing/b.cuh": b"//"}
    assert source.root == path.resolve() and source.repository is None


def test_a_package_that_cannot_be_had_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(SourceError, match="could not be downloaded") as raised:
        open_source("thing==2.0")
    assert raised.value.missing


def test_what_is_no_version_is_never_given_to_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("pip was run"))
    with pytest.raises(SourceError, match="no package at a version"):
        open_source("thing==1.0 --index-url=x")


@pytest.mark.parametrize("kept", [0, 40, 150])
def test_a_broken_archive_is_said_with_its_path(tmp_path: Path, kept: int) -> None:
    path = wheel(tmp_path / "wheels", {"thing/a.py": "x = 1\n" * 50})
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(SourceError, match="archive is broken") as raised:
        open_source(str(path))
    assert raised.value.where == str(path)


def test_a_damaged_member_is_said(tmp_path: Path) -> None:
    path = wheel(tmp_path / "wheels", {"thing/a.py": "".join(chr(97 + i % 26) for i in range(999))})
    data = bytearray(path.read_bytes())
    data[45] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(SourceError, match="archive is broken"):
        list(open_source(str(path)).files())


def test_a_repository_is_read_at_a_revision_without_a_checkout(repository: Path) -> None:
    first = commit(repository, {"k/a.py": "a = 1\n", "LICENSE": MIT, "notes.md": "n"})
    commit(repository, {"k/a.py": "a = 2\n"})
    source = open_source(f"{repository}@{first[:10]}")
    assert (source.kind, source.revision, source.licence) == ("git", first, "MIT")
    assert dict(source.files()) == {"k/a.py": b"a = 1\n"}
    assert source.repository == repository / ".git" and source.has_full_history
    with zipfile.ZipFile(source.root) as tree:
        assert tree.namelist() == ["k/a.py"]
    assert dict(open_source(str(repository)).files()) == {"k/a.py": b"a = 2\n"}


def test_a_url_is_mirrored_with_every_ref_and_kept(repository: Path, tmp_path: Path) -> None:
    first = commit(repository, {"k.py": "a = 1\n"})
    git(repository, "update-ref", "refs/pull/7/head", first)
    source = open_source(f"file://{repository}@{first}")
    assert source.repository is not None and "refs/pull/7/head" in git(source.repository, "show-ref")
    (repository / ".git").rename(tmp_path / "gone")
    assert open_source(f"file://{repository}@{first}").revision == first
    with pytest.raises(SourceError) as raised:
        open_source(f"file://{repository}@{'0' * 40}")
    assert raised.value.missing


def test_a_history_cut_short_is_said(repository: Path, tmp_path: Path) -> None:
    first = commit(repository, {"k.py": "a = 1\n"})
    commit(repository, {"k.py": "a = 2\n"})
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{repository}", "short")
    assert not open_source(str(tmp_path / "short")).has_full_history
    with pytest.raises(SourceError, match="cut short") as raised:
        open_source(f"{tmp_path / 'short'}@{first}")
    assert "unshallow" in raised.value.hint and raised.value.missing


def test_a_missing_blob_is_said_and_never_fetched(repository: Path) -> None:
    commit(repository, {"k.py": "a = 1\n"})
    blob = git(repository, "rev-parse", "HEAD:k.py")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(SourceError, match=r"not there|failed"):
        list(open_source(str(repository)).files())


def test_a_folder_has_its_content_as_its_revision(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "k").mkdir(parents=True)
    (folder / "k" / "a.py").write_text("a = 1\n")
    before = open_source(str(folder))
    assert before.licence == "NOASSERTION" and open_source(str(folder)).revision == before.revision
    (folder / "k" / "a.py").write_text("a = 2\n")
    assert open_source(str(folder)).revision != before.revision


def test_an_entry_of_ones_own_needs_no_more_than_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.py").write_text("a = 1\n")
    entry = tmp_path / "entry.yaml"
    entry.write_text(f"name: own\nkind: folder\nwhere: {tmp_path / 'mine'}\nlicence: MIT\nkernels: ['*.py']\n")
    source = open_source(str(entry))
    assert (source.name, source.licence, source.paths()) == ("own", "MIT", ["a.py"])
    entry.write_text("name: own\nkind: folder\nplace: x\n")
    with pytest.raises(SourceError, match=r"Field required|not permitted"):
        open_source(str(entry))


@pytest.mark.parametrize("spec", ["nothing/here", "no-such-name", "--upload-pack=x", "a/b@c"])
def test_what_is_no_source_is_said(spec: str) -> None:
    with pytest.raises(SourceError, match="no source"):
        open_source(spec)


@pytest.mark.parametrize(("glob", "name", "chosen"), [
    ("**/*.py", "a.py", True), ("**/*.py", "a/b/c.py", True), ("a/**/*.py", "a/c.py", True),
    ("a/*.py", "a/b/c.py", False), ("a/**/*.py", "b/a/c.py", False), ("*.cu", "a.cuh", False),
])  # fmt: skip
def test_globs(glob: str, name: str, chosen: bool) -> None:
    entry = Entry(name="x", kind="folder", where="x", kernels=(glob,))
    assert is_kernel_file(entry, name) is chosen
    assert not is_kernel_file(entry.model_copy(update={"excluded": ("**",)}), name)


@pytest.mark.parametrize(("text", "licence"), [
    (MIT, "MIT"), ("Apache License\n   Version 2.0, January 2004", "Apache-2.0"), ("all rights kept", "NOASSERTION"),
])  # fmt: skip
def test_licences(text: str, licence: str) -> None:
    assert licence_of_text(text) == licence
