"""scan: which files are read, what is printed, and the exit status for hooks and CI."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from skel.rewriter.reasons import finding, refusal
from skel.scan import python_files
from skel.store.schema import Place
from tests.cli.running import Skel


@dataclass(frozen=True)
class FileScan:
    """What the engine gives for one file."""

    kernels: tuple[dict[str, Any], ...] = ()
    findings: tuple[Any, ...] = ()
    not_read: str | None = None


@dataclass
class Engine:
    """Stands in for the rewriter's scan: what it gives by file name, and what it was asked to read."""

    gives: dict[str, FileScan] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, skel: Skel) -> Engine:
    state = Engine()

    def scan(text: str, path: str) -> FileScan:
        state.asked.append(path)
        return state.gives.get(Path(path).name, FileScan())

    monkeypatch.setattr("skel.rewriter.engine.scan", scan, raising=False)
    return state


def kernel(**changes: Any) -> dict[str, Any]:
    opportunity = {"skeleton": "fuse_vtiles", "line": 7, "why": "a norm repeats", "applicable": False,
                   "refusals": [refusal("single_tile", 7, axis="i_v")]}
    use = {"skeleton": "exp_to_exp2", "line": 5, "why": "calls exp2"}
    return {"file": "a.py", "kernel": "k", "line": 3, "uses": [use], "opportunities": [opportunity | changes]}


def test_folders_are_walked_in_order_and_files_without_kernels_not_analysed(skel: Skel, engine: Engine) -> None:
    for name in ("b/two.py", "b/__pycache__/x.py", ".hidden/x.py", "a.py", "plain.py", "notes.txt"):
        path = Path(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text("import triton\n" if name != "plain.py" else "x = 1\n")
    document = skel("scan", ".", "a.py", "--json").document
    assert document["files"] == ["a.py", "plain.py", "b/two.py"]
    assert engine.asked == ["a.py", "b/two.py"]


def test_a_file_that_is_named_is_read_wherever_it_lies(skel: Skel) -> None:
    Path(".hidden").mkdir()
    Path(".hidden/x.py").write_text("")
    assert python_files([".hidden", ".hidden/x.py"]) == [Path(".hidden/x.py")]


def test_what_cannot_be_read_is_listed_and_ends_nothing(skel: Skel, engine: Engine) -> None:
    Path("a.py").write_text("import triton\n")
    Path("b.py").write_bytes(b"# triton \xff\n")
    Path("c.py").write_text("triton (\n")
    engine.gives["c.py"] = FileScan(not_read="line 1: never closed")
    ended = skel("scan", "a.py", "b.py", "c.py", "--json")
    assert ended.status == 0 and ended.document["files"] == ["a.py"]
    assert [entry["file"] for entry in ended.document["not_read"]] == ["b.py", "c.py"]


def test_the_document_and_the_text(skel: Skel, engine: Engine) -> None:
    Path("a.py").write_text("import triton\n")
    warned = finding("offset_may_overflow", Place(file="a.py", line=9), severity="warning", line=9)
    engine.gives["a.py"] = FileScan((kernel(),), (warned,))
    document = skel("scan", "a.py", "--json").document
    assert document["kernels"][0]["opportunities"][0]["refusals"][0]["code"] == "single_tile"
    assert document["findings"][0]["code"] == "offset_may_overflow"
    out = skel("scan", "a.py").out
    for part in ("a.py:3 k", "uses exp_to_exp2", "refused: fuse_vtiles (line 7)", "single_tile, line 7",
                 "a.py:9 warning offset_may_overflow", "1 file, 1 kernel, 1 opportunity"):
        assert part in out


@pytest.mark.parametrize(("applicable", "said"), [(True, "could use fuse_vtiles"), (None, "consider fuse_vtiles")])
def test_what_can_be_applied_is_said(skel: Skel, engine: Engine, applicable: bool | None, said: str) -> None:
    Path("a.py").write_text("import triton\n")
    engine.gives["a.py"] = FileScan((kernel(applicable=applicable, refusals=[]),))
    out = skel("scan", "a.py").out
    assert said in out and ("skel apply fuse_vtiles a.py::k" in out) is (applicable is True)


@pytest.mark.parametrize(("code", "status"), [("single_tile", 1), ("offset_may_overflow", 1), ("spills", 0)])
def test_fail_on(skel: Skel, engine: Engine, code: str, status: int) -> None:
    Path("a.py").write_text("import triton\n")
    engine.gives["a.py"] = FileScan((kernel(),), (finding("offset_may_overflow", line=9),))
    assert skel("scan", "a.py", "--fail-on", code).status == status
    assert skel("scan", "a.py", "--fail-on", "no_such_code").status == 2


def test_a_missing_path_is_wrong_use(skel: Skel, engine: Engine) -> None:
    ended = skel("scan", "none.py")
    assert ended.status == 2 and "none.py" in ended.err


def test_sarif(skel: Skel, engine: Engine) -> None:
    Path("a.py").write_text("import triton\n")
    warned = finding("offset_may_overflow", Place(file="a.py", line=9, end_line=10), severity="warning", line=9)
    engine.gives["a.py"] = FileScan((kernel(),), (warned,))
    log = skel("scan", "a.py", "--sarif").document
    run = log["runs"][0]
    assert log["version"] == "2.1.0"
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"offset_may_overflow", "fuse_vtiles"}
    first, second = run["results"]
    assert first["level"] == "warning"
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a.py"}, "region": {"startLine": 9, "endLine": 10}}
    assert second["ruleId"] == "fuse_vtiles" and "single_tile" in second["message"]["text"]
