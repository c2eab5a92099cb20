"""The way a user goes, in processes of its own: search, apply, check, on the example that ships."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skel.validation.document import Document

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "kda_decode.py"


def run(folder: Path, database: str, *words: str) -> tuple[int, Any]:
    """Run `skel WORDS... --json` in `folder`."""
    command = [sys.executable, "-m", "skel", *words, "--json", "--db", database]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def environment() -> dict[str, str]:
    """This process's, with the project's root on the path: the folder is another one."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.slow
def test_the_example_is_rewritten_and_checked_and_the_same_each_time(tmp_path: Path, database: str) -> None:
    texts = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        status, document = run(folder, database, "apply", "fuse_vtiles", str(EXAMPLE), "--no-bench")
        checked = Document.model_validate(document)
        assert status == 0 and checked.verdict == "equivalent" and checked.refusals == ()
        chosen = next(one for one in checked.candidates if one["chosen"])
        assert checked.compile is not None and chosen["registers"] > 0 and chosen["spill_bytes"] == 0
        assert chosen["programs"] < checked.compile["original"]["programs"]
        assert checked.numerics is not None and checked.numerics["has_reference"]
        assert [path.name for path in folder.iterdir()] == ["kda_decode_fuse_vtiles.py"]
        texts.append((folder / "kda_decode_fuse_vtiles.py").read_bytes())
    assert texts[0] == texts[1] != EXAMPLE.read_bytes()


def test_a_refusal_writes_nothing_and_is_quick(tmp_path: Path, database: str) -> None:
    status, document = run(tmp_path, database, "apply", "fuse_vtiles", str(ROOT / "examples" / "masked_softmax.py"))
    assert status == 1 and document["verdict"] == "not_applicable"
    assert document["refusals"] and all(refusal["code"] for refusal in document["refusals"])
    assert document["compile"] is None and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["x = 1\n", "def f(:\n", "", "import triton\n"])
def test_files_without_a_kernel_are_refused_with_a_reason(tmp_path: Path, database: str, text: str) -> None:
    (tmp_path / "k.py").write_text(text)
    status, document = run(tmp_path, database, "apply", "fuse_vtiles", "k.py")
    assert status == 1 and document["refusals"][0]["code"] in ("no_kernel", "unparsable")
