"""new: what it writes loads, its test passes, and nothing is overwritten."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skel.docs import REFERENCE
from tests.cli.running import Skel

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("skel", "skeletons", "rewriter", "store", "validation", "miner")
KINDS = ("skeleton", "primitive", "detector")


@pytest.fixture
def clone(skel: Skel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources, entered."""
    root = tmp_path / "clone"
    root.mkdir()
    for name in FOLDERS:
        shutil.copytree(ROOT / name, root / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_new_has_a_test_that_passes_and_stands_in_the_reference(skel: Skel, clone: Path, kind: str) -> None:
    ended = skel("new", kind, "shiny_thing", "--json")
    assert ended.status == 0, ended.err
    written = ended.document["files"]
    assert all((clone / name).is_file() for name in written) and REFERENCE in written
    test = next(name for name in written if name.startswith("tests/"))
    environment = {name: value for name, value in os.environ.items() if name != "SKEL_DB"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert kind == "skeleton" or "### shiny_thing" in (clone / REFERENCE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "registry"),
    [("primitive", "rewriter/engine/registry.py"), ("detector", "rewriter/detectors/registry.py")],
)
def test_its_test_lies_where_tests_lie_and_the_registry_is_named(
    skel: Skel, clone: Path, kind: str, registry: str
) -> None:
    ended = skel("new", kind, "shiny_thing")
    assert registry in ended.out and (ROOT / registry).is_file()
    (test,) = (line.removeprefix("wrote ") for line in ended.out.splitlines() if line.startswith("wrote tests/"))
    assert list((ROOT / test).parent.glob("test_*.py")), f"no tests lie in {Path(test).parent}"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_new_is_clean(skel: Skel, clone: Path, kind: str) -> None:
    written = skel("new", kind, "shiny_thing", "--json").document["files"]
    python = [name for name in written if name.endswith(".py")]
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", *python]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_nothing_is_overwritten(skel: Skel, clone: Path) -> None:
    before = (clone / "skeletons" / "fuse_vtiles" / "skeleton.yaml").read_bytes()
    ended = skel("new", "skeleton", "fuse_vtiles")
    assert ended.status == 2 and "there already" in ended.err
    assert (clone / "skeletons" / "fuse_vtiles" / "skeleton.yaml").read_bytes() == before


@pytest.mark.parametrize("name", ["Shiny", "1st", "a-b", "../x", "x"])
def test_names_that_are_none(skel: Skel, clone: Path, name: str) -> None:
    ended = skel("new", "primitive", name)
    assert ended.status == 2 and "snake_case" in ended.err


def test_outside_a_clone_it_says_so(skel: Skel) -> None:
    ended = skel("new", "skeleton", "shiny_thing")
    assert ended.status == 2 and "clone" in ended.err
    assert list(Path.cwd().iterdir()) == []
