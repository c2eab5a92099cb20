"""scan on what folders really hold: pipes, links in circles, very large and broken files, notebooks, deep nesting."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from skel.scan import python_files, scan_files
from tests.cli.running import Skel

KERNEL = """import triton
import triton.language as tl


@triton.jit
def kernel(x, n, stride, B: tl.constexpr):
    o = tl.program_id(0) * stride + tl.arange(0, B)
    {body}
"""
PLAIN = KERNEL.format(body="tl.store(x + o, 1.0)")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(PLAIN)
    return tmp_path


def reasons(document: dict[str, Any]) -> dict[str, str]:
    return {entry["file"]: entry["why"] for entry in document["not_read"]}


def test_pipes_and_devices_are_not_waited_for(skel: Skel, folder: Path) -> None:
    os.mkfifo("pipe.py")
    Path("null.py").symlink_to("/dev/null")
    document = skel("scan", ".", "--json").document
    assert document["files"] == ["good.py"]
    assert reasons(document) == {"pipe.py": "pipe.py is no regular file", "null.py": "null.py is no regular file"}


def test_links_in_circles_end(skel: Skel, folder: Path) -> None:
    Path("sub").mkdir()
    Path("sub/up").symlink_to("..")
    Path("sub/self.py").symlink_to("self.py")
    Path("sub/gone.py").symlink_to("nowhere.py")
    document = skel("scan", ".", "--json").document
    assert document["files"] == ["good.py"] and set(reasons(document)) == {"sub/self.py", "sub/gone.py"}
    linked = skel("scan", "sub/up", "--json").document  # a link that is named is followed
    assert linked["files"] == ["sub/up/good.py"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("wide.py", b"\xff\xfei\x00m\x00", "cannot be decoded"),
        ("nul.py", b"import triton\0\n", "null bytes"),
        ("open.py", b"import triton\nx = (\n", "never closed"),
        ("nested.py", b"import triton\nx = " + b"(" * 300 + b"1" + b")" * 300, "too many nested parentheses"),
        ("signs.py", b"import triton\nx = " + b"1+" * 30_000 + b"1\n", "recursion"),
    ],
)
def test_broken_files_are_listed(skel: Skel, folder: Path, name: str, content: bytes, why: str) -> None:
    Path(name).write_bytes(content)
    ended = skel("scan", ".", "--json")
    assert ended.status == 0 and ended.document["files"] == ["good.py"] and why in reasons(ended.document)[name]


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"# -*- coding: latin-1 -*-\n# \xe9\n", b"# comment\r\n"])
def test_other_encodings_and_line_ends_are_read(skel: Skel, folder: Path, start: bytes) -> None:
    Path("other.py").write_bytes(start + PLAIN.encode().replace(b"\n", b"\r\n"))
    document = skel("scan", "other.py", "--json").document
    assert [k["kernel"] for k in document["kernels"]] == ["kernel"] and document["not_read"] == []


def test_very_large_files_are_not_read(skel: Skel, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skel.scan.MAX_BYTES", 1_000_000)
    Path("data.py").write_text("import triton\nx = [" + "1, " * 400_000 + "]\n")
    assert reasons(skel("scan", ".", "--json").document) == {"data.py": "data.py is larger than 1 MB"}


def test_notebooks_are_left_alone_and_said_where_they_are_named(skel: Skel, folder: Path) -> None:
    Path("n.ipynb").write_text(json.dumps({"cells": [{"source": ["import triton\n"]}]}))
    assert skel("scan", ".", "--json").document["not_read"] == []
    assert reasons(skel("scan", "n.ipynb", "--json").document) == {"n.ipynb": "n.ipynb is a notebook"}


def test_folders_that_cannot_be_read_are_listed(skel: Skel, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("closed").mkdir()
    scandir = os.scandir

    def refusing(path: Any) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert reasons(skel("scan", ".", "--json").document) == {"closed": "closed cannot be read: Permission denied"}
    assert python_files(["."]) == [Path("good.py")]


def test_what_is_too_deep_is_no_fault_of_ours(folder: Path) -> None:
    loops = "".join(f"{'    ' * (d + 1)}for j{d} in range(n):\n" for d in range(18)).lstrip()
    Path("loops.py").write_text(KERNEL.format(body=loops + "    " * 19 + "tl.store(x + o, 1.0)"))
    Path("sum.py").write_text(KERNEL.format(body="tl.store(x + " + " + ".join(["o"] * 900) + ", 1.0)"))
    why = reasons(scan_files(python_files(["."])))
    assert why == {"loops.py": "kernel: a loop inside 10 others is not understood here",
                   "sum.py": "kernel: its expressions are nested too deeply to be understood"}


def test_long_kernels_take_time_in_proportion(folder: Path) -> None:
    """Seen: everything was followed back from each of n exponentials, n statements each time."""
    import time

    def seconds(count: int) -> float:
        steps = "".join(f"    a = a * {n}.0 + tl.exp(a)\n" for n in range(count)).lstrip()
        text = KERNEL.format(body="a = tl.load(x + o)\n    " + steps + "    tl.store(x + o, a)")
        Path("long.py").write_text(text)
        begun = time.process_time()
        assert len(scan_files([Path("long.py")])["kernels"]) == 1
        return time.process_time() - begun

    seconds(10)
    assert seconds(600) < 12 * max(seconds(150), 0.05)


def test_progress_is_told(folder: Path) -> None:
    for name in "abc":
        Path(f"{name}.py").write_text(PLAIN)
    Path("plain.py").write_text("x = 1\n")
    told: list[tuple[int, int]] = []
    scan_files(python_files(["."]), None, lambda done, of: told.append((done, of)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_an_interrupted_scan_ends_without_a_traceback(
    skel: Skel, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skel.scan.scan_one", interrupted)
    ended = skel("scan", ".", "--json")
    assert ended.status == 130 and ended.out == "" and "Traceback" not in ended.err
