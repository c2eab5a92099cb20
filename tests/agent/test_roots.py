"""Files under the roots, and what is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skel.agent.errors import CallError
from skel.agent.limits import LIMITS
from skel.agent.roots import Roots


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "second").mkdir()
    (tmp_path / "outside.py").write_text("SECRET = 1\n")
    (tmp_path / "root" / "a.py").write_text("x = 'ü'\n", encoding="utf-8")
    return Roots((tmp_path / "root", tmp_path / "second"))


def code(roots: Roots, path: str) -> str:
    with pytest.raises(CallError) as raised:
        roots.read(path)
    return raised.value.code


def test_files_of_every_root_are_read(roots: Roots, tmp_path: Path) -> None:
    (tmp_path / "second" / "b.py").write_bytes("# -*- coding: latin-1 -*-\nx = 'ü'\n".encode("latin-1"))
    assert roots.read("a.py").text == "x = 'ü'\n"
    assert roots.read("sub/../a.py").path == tmp_path / "root" / "a.py"
    assert roots.read(str(tmp_path / "second" / "b.py")).text.endswith("x = 'ü'\n")


def test_paths_are_shown_from_the_first_root(roots: Roots, tmp_path: Path) -> None:
    assert roots.shown(tmp_path / "root" / "sub" / "c.py") == "sub/c.py"
    assert roots.shown(tmp_path / "second" / "b.py") == str(tmp_path / "second" / "b.py")


@pytest.mark.parametrize(
    "path",
    [
        "../outside.py",
        "sub/../../outside.py",
        "/etc/passwd",
        "/proc/self/environ",
        "//etc/passwd",
        "..",
        "/",
        "~/x.py",
        "../root2/a.py",
    ],
)
def test_what_lies_elsewhere_is_refused_whether_it_exists_or_not(roots: Roots, path: str) -> None:
    assert code(roots, path) in ("outside_roots", "no_such_file")
    if path != "~/x.py":  # no home is looked up: it is a name like any other
        assert code(roots, path) == "outside_roots"


def test_a_folder_whose_name_begins_like_a_root_is_outside(roots: Roots, tmp_path: Path) -> None:
    (tmp_path / "root2").mkdir()
    (tmp_path / "root2" / "a.py").write_text("")
    assert code(roots, str(tmp_path / "root2" / "a.py")) == "outside_roots"


def test_links_out_are_refused_and_links_inside_are_followed(roots: Roots, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "out.py").symlink_to(tmp_path / "outside.py")
    (root / "up").symlink_to(tmp_path)
    (root / "in.py").symlink_to(root / "a.py")
    (root / "loop.py").symlink_to(root / "loop.py")
    assert code(roots, "out.py") == "outside_roots"
    assert code(roots, "up/outside.py") == "outside_roots"
    assert roots.read("in.py").path == root / "a.py"
    assert code(roots, "loop.py") in ("unreadable_file", "no_such_file")


def test_a_link_that_appears_after_the_look_is_still_refused(roots: Roots, tmp_path: Path, monkeypatch) -> None:
    victim = tmp_path / "root" / "sub" / "c.py"
    victim.write_text("")
    looked = roots.locate("sub/c.py")
    victim.unlink()
    victim.symlink_to(tmp_path / "outside.py")
    monkeypatch.setattr(roots, "locate", lambda path: looked)
    assert code(roots, "sub/c.py") == "unreadable_file"


def test_a_folder_that_becomes_a_link_after_the_look_is_still_refused(
    roots: Roots, tmp_path: Path, monkeypatch
) -> None:
    (tmp_path / "root" / "sub" / "outside.py").write_text("")
    looked = roots.locate("sub/outside.py")
    (tmp_path / "root" / "sub" / "outside.py").unlink()
    (tmp_path / "root" / "sub").rmdir()
    (tmp_path / "root" / "sub").symlink_to(tmp_path)
    monkeypatch.setattr(roots, "locate", lambda path: looked)
    assert code(roots, "sub/outside.py") == "outside_roots"


def test_what_is_no_source_file_is_refused(roots: Roots, tmp_path: Path) -> None:
    root = tmp_path / "root"
    os.mkfifo(root / "pipe.py")
    (root / "binary.py").write_bytes(b"\x80\x81\xff")
    (root / "nul.py").write_bytes(b"x = 1\0\n")
    (root / "coding.py").write_bytes(b"# coding: no_such_codec\n")
    (root / "big.py").write_bytes(b"#" * (LIMITS.file_bytes + 1))
    assert code(roots, "missing.py") == "no_such_file"
    assert code(roots, "sub") == "unreadable_file"
    assert code(roots, "pipe.py") == "unreadable_file"  # and does not wait for a writer
    assert code(roots, "binary.py") == code(roots, "nul.py") == code(roots, "coding.py") == "unreadable_file"
    assert code(roots, "big.py") == "too_large"
    assert code(roots, "a.py\0") == "unreadable_file"
    assert code(roots, "x/" * 3000) in ("unreadable_file", "no_such_file")


def test_a_result_replaces_a_link_instead_of_following_it(roots: Roots, tmp_path: Path) -> None:
    target = tmp_path / "root" / "result.py"
    target.symlink_to(tmp_path / "outside.py")
    roots.write(roots.destination("result.py"), b"new\n")
    assert target.read_text() == "new\n" and not target.is_symlink()
    assert (tmp_path / "outside.py").read_text() == "SECRET = 1\n"
    assert sorted(path.name for path in (tmp_path / "root").iterdir()) == ["a.py", "result.py", "sub"]


def test_a_result_does_not_go_through_a_folder_that_became_a_link(roots: Roots, tmp_path: Path) -> None:
    place = roots.destination("sub/outside.py")
    (tmp_path / "root" / "sub").rmdir()
    (tmp_path / "root" / "sub").symlink_to(tmp_path)
    with pytest.raises(CallError):
        roots.write(place, b"new\n")
    assert (tmp_path / "outside.py").read_text() == "SECRET = 1\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("../x.py", "outside_roots"),
        ("/tmp/x.py", "outside_roots"),
        ("x.txt", "unreadable_file"),
        (".x.py", "unreadable_file"),
        ("none/x.py", "no_such_file"),
        ("x.py\0.py", "unreadable_file"),
        ("\u202egnp.py", "unreadable_file"),
        ("a\nb.py", "unreadable_file"),
        ("a" * 300 + ".py", "unreadable_file"),
        ("a" * 300 + "/x.py", "unreadable_file"),
    ],
)
def test_results_go_to_python_files_under_a_root_only(roots: Roots, path: str, expected: str) -> None:
    with pytest.raises(CallError) as raised:
        roots.destination(path)
    assert raised.value.code == expected


@pytest.mark.parametrize("name", ["a" * 300 + ".py", "a" * 300 + "/x.py", "é" * 200 + ".py"])
def test_a_name_that_no_file_can_have_is_no_path(roots: Roots, name: str) -> None:
    for use in (roots.read, roots.file):
        with pytest.raises(CallError) as raised:
            use(name)
        assert raised.value.code == "unreadable_file"


def test_a_workload_that_cannot_be_held_is_not_read(roots: Roots, tmp_path: Path) -> None:
    for name, least in (("w.py", LIMITS.file_bytes), ("w.zip", LIMITS.capture_bytes)):
        (tmp_path / "root" / name).write_bytes(b"")
        assert roots.file(name).name == name
        os.truncate(tmp_path / "root" / name, least + 1)
        with pytest.raises(CallError) as raised:
            roots.file(name)
        assert raised.value.code == "too_large"


def test_a_root_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folders in ((tmp_path / "file",), (tmp_path / "none",)):
        with pytest.raises(OSError):
            Roots(folders)
