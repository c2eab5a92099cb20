"""The changed lines are those that were measured, or the report says why there are none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from skel.report import Piece
from skel.report.changes import Changes, changes_of
from skel.report.difference import difference, unified
from skel.store.canonical import sha256
from skel.store.load import load_skeleton
from skel.store.schema import Evidence, EvidenceStatus, Skeleton
from tests.report.making import timed

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "skeletons" / "div_to_reciprocal" / "skeleton.yaml"
SOURCE = ROOT / "tests" / "validation" / "fixtures" / "row_norm.py"


@pytest.fixture(scope="module")
def record() -> Skeleton:
    return load_skeleton(RECORD)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel's file in the working directory."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(SOURCE, tmp_path / "row_norm.py")
    (tmp_path / "latin.py").write_bytes(b"# \xff")
    return tmp_path / "row_norm.py"


def rewritten(record: Skeleton, kernel: Path) -> str:
    from skel.rewriter.engine import candidates

    found: Any = candidates(record, kernel.read_text(), "row_norm.py", "row_norm_kernel")
    return str(found.items[0].text)


def changes(record: Skeleton | None, **fields: Any) -> Changes:
    made = {"skeleton": "div_to_reciprocal", "kernel": "row_norm_kernel", "file": "row_norm.py", "settings": {}}
    evidence = Evidence.model_validate(timed().model_dump() | made | {"timing": {}, "workloads": ()} | fields)
    return changes_of(Piece("0" * 64, evidence, EvidenceStatus.HYPOTHESIS, (), record))


def test_the_text_that_was_measured_is_made_again(record: Skeleton, kernel: Path) -> None:
    before, after = kernel.read_text(), rewritten(record, kernel)
    found = changes(record, source_sha256=sha256(before), candidate_sha256=sha256(after))
    (change,) = found.shown
    assert (change.before, change.after, found.why_not) == (before, after, ())
    assert change.note == "the text measured, by its hash"


def test_another_text_than_the_one_measured_is_not_shown(record: Skeleton, kernel: Path) -> None:
    found = changes(record, source_sha256=sha256(kernel.read_text()), candidate_sha256="c" * 64)
    assert found.shown == () and "another text" in found.why_not[0]


def test_each_variant_is_held_against_its_own_hash(record: Skeleton, kernel: Path) -> None:
    digest = sha256(rewritten(record, kernel))
    variants = {"settings": {"variants": {"a": {}, "b": {}}}, "source_sha256": sha256(kernel.read_text())}
    hashes = {"variants": ["b", "a"], "guarded": True, "variant_sha256": {"a": digest, "b": "c" * 64}}
    found = changes(record, timing=hashes, candidate_sha256="c" * 64, **variants)
    assert [one.title for one in found.shown] == ["a"] and found.why_not[0].startswith("b:")
    older = changes(record, timing={"variants": ["b", "a"]}, candidate_sha256=digest, **variants)
    assert [(one.title, "by its hash" in one.note) for one in older.shown] == [("b", True), ("a", False)]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"file": "gone.py"}, "gone.py is not at hand here"),
        ({"file": "nobody==1.0:nobody/kernel.py"}, "is not at hand here"),
        ({"file": "a\0b"}, "is not at hand here"),
        ({"file": "latin.py"}, "cannot be read"),
        ({"file": "/dev/zero"}, "is not at hand here"),
        ({"file": "/proc/kmsg"}, "is not at hand here"),
        ({"source_sha256": "d" * 64}, "is another text now than the one measured"),
    ],
)
def test_why_there_are_no_lines(record: Skeleton, kernel: Path, fields: dict[str, str], why: str) -> None:
    digest = {"source_sha256": sha256(kernel.read_text())} | fields
    found = changes(record, candidate_sha256="c" * 64, **digest)
    assert found.shown == () and why in found.why_not[0]


def test_a_file_that_was_rewritten_in_place_is_known(record: Skeleton, kernel: Path) -> None:
    found = changes(record, source_sha256="d" * 64, candidate_sha256=sha256(kernel.read_text()))
    assert "holds the rewritten text now" in found.why_not[0]


def test_a_record_that_is_not_known(kernel: Path) -> None:
    found = changes(None, source_sha256=sha256(kernel.read_text()), candidate_sha256="c" * 64)
    assert "not known here" in found.why_not[0]


def test_a_difference_shows_what_changed_within_a_line() -> None:
    before = "\n".join(["a", "b", "c", "d", "e", "BV = 32", "f", "g", "h", "i"])
    after = before.replace("BV = 32", "BV = min(64, n)").replace("\ni", "\ni\nj")
    found = difference(before, after)
    assert (found.added, found.removed) == (2, 1)
    assert [(one.kind, one.before, one.after) for one in found.lines] == [
        ("gap", None, None), ("same", 3, 3), ("same", 4, 4), ("same", 5, 5), ("gone", 6, None), ("new", None, 6),
        ("same", 7, 7), ("same", 8, 8), ("same", 9, 9), ("same", 10, 10), ("new", None, 11),
    ]  # fmt: skip
    gone, new = found.lines[4:6]
    assert (gone.start, gone.changed, gone.end) == ("BV = ", "32", "")
    assert (new.start, new.changed, new.end) == ("BV = ", "min(64, n)", "")


@pytest.mark.parametrize(("old", "new"), [("aa", "aaa"), ("ab", "b"), ("", "x"), ("same", "same"), ("xyx", "xyxyx")])
def test_the_parts_of_a_line_are_the_line(old: str, new: str) -> None:
    lines = difference(f"{old}\n.", f"{new}\n.").lines
    texts = {one.kind: one.start + one.changed + one.end for one in lines}
    assert texts.get("gone", old) == old and texts.get("new", new) == new


def test_the_unified_form_has_the_same_lines() -> None:
    assert list(unified("a\nb", "a\nc", "k.py")) == ["--- k.py", "+++ k.py", "@@ -1,2 +1,2 @@", " a", "-b", "+c"]
