"""The cache of scans: the same text is scanned once, and again when it, or a helper it calls, has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.scan import scan_files
from skel.scan_cache import ScanCache

KERNEL = '''import triton
import triton.language as tl
from .helpers import scaled


@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + o, scaled(tl.load(x + o, mask=o < n)), mask=o < n)
'''
HELPER = '''import triton
import triton.language as tl


@triton.jit
def scaled(x):
    return {value}
'''


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    (tmp_path / "helpers.py").write_text(HELPER.format(value="x * 2"))
    (tmp_path / "kernel.py").write_text(KERNEL)
    return [tmp_path / "kernel.py"]


def scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths that are really scanned from now on."""
    import skel.rewriter.engine

    asked: list[str] = []
    real = skel.rewriter.engine.scan
    monkeypatch.setattr("skel.rewriter.engine.scan", lambda text, path: (asked.append(path), real(text, path))[1])
    return asked


def test_a_file_is_scanned_once(files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = scans(monkeypatch)
    first = scan_files(files, ScanCache(tmp_path / "cache"))
    assert scan_files(files, ScanCache(tmp_path / "cache")) == first and len(asked) == 1


def test_a_changed_helper_is_read_again(files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from skel.rewriter.analysis.callees import module_at
    from skel.rewriter.resolve.modules import read_text

    before = scan_files(files, ScanCache(tmp_path / "cache"))
    asked = scans(monkeypatch)
    (tmp_path / "helpers.py").write_text(HELPER.format(value="x * tl.rsqrt(x)"))
    module_at.cache_clear()
    read_text.cache_clear()
    after = scan_files(files, ScanCache(tmp_path / "cache"))
    assert len(asked) == 1
    assert [u["skeleton"] for u in before["kernels"][0]["uses"]] == []
    assert [u["skeleton"] for u in after["kernels"][0]["uses"]] == ["div_to_reciprocal"]


def test_a_damaged_entry_is_scanned_again(files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = scan_files(files, ScanCache(tmp_path / "cache"))
    for entry in (tmp_path / "cache").rglob("*.json"):
        entry.write_text('{"reads": 3}')
    asked = scans(monkeypatch)
    assert scan_files(files, ScanCache(tmp_path / "cache")) == first and len(asked) == 1


def test_a_folder_that_cannot_be_written_keeps_nothing(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert scan_files(files, ScanCache(tmp_path / "cache"))["kernels"]


def test_several_processes_give_what_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "helpers.py").write_text(HELPER.format(value="x * tl.rsqrt(x)"))
    many = []
    for number in range(4):
        many.append(tmp_path / f"k{number}.py")
        many[-1].write_text(KERNEL.replace("def kernel", f"def kernel{number}"))
    alone = scan_files(many)
    monkeypatch.setattr("skel.scan.POOL_FROM", 2)
    monkeypatch.setattr("skel.scan.workers", lambda: 2)
    assert scan_files(many) == alone and len(alone["kernels"]) == 4
