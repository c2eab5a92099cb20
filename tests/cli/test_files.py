"""Source files survive reading and writing byte for byte, and are written whole or not at all."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from skel.faults import WrongUse
from skel.files import in_archive, path_inside, read_source, write_whole


@pytest.mark.parametrize(
    "raw",
    [
        b"x = 1\n",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1",
        b"\xef\xbb\xbfx = 1\n",
        "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
        "x = '分块'\n".encode(),
    ],
)
def test_bytes_survive(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(raw)
    source = read_source(path)
    write_whole(path, source.text, source.encoding)
    assert path.read_bytes() == raw


@pytest.mark.parametrize("raw", [b"x = '\xff\xfe'\n", b"# coding: no-such-encoding\n"])
def test_what_cannot_be_decoded_is_wrong_use(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(raw)
    with pytest.raises(WrongUse, match="cannot be decoded"):
        read_source(path)


def test_a_link_and_the_mode_are_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink() and real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("old")

    def fail(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(WrongUse, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.py"]


def test_a_missing_folder_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="cannot be written"):
        write_whole(tmp_path / "none" / "a.py", "x")


def test_a_file_inside_a_wheel_is_read_like_any_other(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a-1.whl", "w") as archive:
        archive.writestr("a/b.py", "x = '分块'\r\n")
    inside = tmp_path / "a-1.whl" / "a" / "b.py"
    assert in_archive(inside)
    assert path_inside(inside) == "a/b.py"
    assert path_inside(tmp_path / "c.py") == str(tmp_path / "c.py")
    assert read_source(inside).text == "x = '分块'\r\n"
    assert not in_archive(tmp_path / "a-1.whl" / "a" / "c.py")
    assert not in_archive(tmp_path / "a-1.whl")


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    with pytest.raises(WrongUse, match="no regular file"):
        write_whole(pipe, "x = 1\n")
    assert pipe.is_fifo() and os.listdir(tmp_path) == ["pipe.py"]
