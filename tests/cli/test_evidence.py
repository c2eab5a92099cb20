"""`skel evidence` and `skel revalidate`."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from skel.rerun import Found, Needs, locate
from skel.store.canonical import sha256
from skel.store.evidence_query import read_evidence
from skel.store.schema import Evidence
from tests.cli.running import Ended, Skel

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "tests" / "validation" / "fixtures" / "row_norm.py"


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database of its own, as evidence cannot be taken out again."""
    return f"sqlite:///{tmp_path / 'own.db'}"


def evidence(**changes: Any) -> dict[str, Any]:
    return {
        "skeleton": "div_to_reciprocal",
        "kernel": "row_norm_kernel",
        "file": str(EXAMPLE),
        "source_sha256": sha256(EXAMPLE.read_text(encoding="utf-8")),
        "level": "numerics",
        "verdict": "equivalent",
        "environment": {"device": "cpu (interpreter)", "triton": "3.2.0"},
        "measured_at": datetime(2026, 1, 1, tzinfo=UTC).isoformat(),
        **changes,
    }


def stored(skel: Skel, url: str, tmp_path: Path, *items: dict[str, Any]) -> list[str]:
    path = tmp_path / "given.json"
    path.write_text(json.dumps(list(items)), encoding="utf-8")
    ended = skel("evidence", "import", str(path), "--db", url, "--json")
    assert ended.status == 0, ended.err
    return list(ended.document["added"])


def test_import_list_show_export(skel: Skel, url: str, tmp_path: Path) -> None:
    shipped = len(skel("evidence", "list", "--db", url, "--json").document["evidence"])
    fast = {"device": "NVIDIA H200"}
    items = [evidence(), evidence(verdict="faster", level="timing", environment=fast)]
    keys = stored(skel, url, tmp_path, *items)
    assert len(keys) == 2
    assert not stored(skel, url, tmp_path, *items), "known evidence is not stored twice"
    listed = skel("evidence", "list", "--db", url, "--json").document["evidence"]
    by_id = {one["id"]: one for one in listed}
    assert [by_id[key]["status"] for key in keys] == ["stale", "reproduced"]
    assert "triton 3.2" in by_id[keys[0]]["stale_because"][0]
    assert skel("evidence", "list", "exp_to_exp2", "--db", url, "--json").document["evidence"] == []
    shown = skel("evidence", "show", keys[1][:10], "--db", url, "--json").document
    assert shown["id"] == keys[1] and shown["content"]["environment"]["device"] == "NVIDIA H200"
    out = tmp_path / "out.json"
    assert skel("evidence", "export", "-o", str(out), "--db", url, "--json").document["exported"] == 2 + shipped
    other = f"sqlite:///{tmp_path / 'other.db'}"
    again = skel("evidence", "import", str(out), "--db", other, "--json").document
    assert sorted(again["added"]) == sorted(keys)
    assert f"{2 + shipped} pieces of evidence" in skel("evidence", "list", "--db", url).out


@pytest.mark.parametrize(
    "words",
    [
        ("evidence", "burn"),
        ("evidence", "show"),
        ("evidence", "show", "zz"),
        ("evidence", "export"),
        ("evidence", "import", "no.json"),
        ("evidence", "list", "-o", "x"),
    ],
)
def test_wrong_use(skel: Skel, url: str, words: tuple[str, ...]) -> None:
    assert skel(*words, "--db", url, "--json").status == 2


def test_damaged_evidence_is_not_taken(skel: Skel, url: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps([evidence(), evidence(verdict="splendid")]), encoding="utf-8")
    assert skel("evidence", "import", str(path), "--db", url, "--json").status == 2
    assert skel("evidence", "list", "div_to_reciprocal", "--db", url, "--json").document["evidence"] == []


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without a GPU."""
    monkeypatch.setattr("skel.rerun.gpu_names", tuple)


def revalidated(ended: Ended, *keys: str) -> list[dict[str, Any]]:
    by_id = {one["id"]: one for one in ended.document["revalidated"]}
    return [by_id[key] for key in keys]


def test_revalidate_says_all_that_is_needed(skel: Skel, url: str, tmp_path: Path, no_gpu: None) -> None:
    old = {"device": "NVIDIA H200", "triton": "3.2.0", "driver": "1", "architecture": "sm_90"}
    timed = {"level": "timing", "verdict": "faster", "environment": old}
    keys = stored(skel, url, tmp_path, evidence(file="gone.py"), evidence(source_sha256="0" * 64),
                  evidence(**timed), evidence(**timed, file="gone.py"))
    ended = skel("revalidate", "--db", url, "--json")
    needs = [one["needs"] for one in revalidated(ended, *keys)]
    gpu = "there is no GPU here: it was timed on NVIDIA H200 (sm_90)"
    assert needs[0] == ["gone.py is not here"] and "another text" in needs[1][0]
    assert needs[2:] == [[gpu], [gpu, "gone.py is not here"]]
    assert ended.status == 4, "nothing could be run"
    assert ended.document["ran"] == 0 and ended.document["not_run"] == ended.document["stale"] >= 4
    told = skel("revalidate", "--db", url)
    assert told.status == 4 and f"not run: {gpu}" in told.out and ": 0 run again, " in told.out


def test_nothing_stale_is_no_failure(skel: Skel, url: str) -> None:
    ended = skel("revalidate", "exp_to_exp2", "--db", url, "--json")
    assert ended.status == 0 and ended.document == {"revalidated": [], "stale": 0, "ran": 0, "not_run": 0}


def test_shipped_evidence_finds_its_files(no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured here can be run again where there is a GPU: sidecars are found without being recorded."""
    monkeypatch.chdir(ROOT)
    shipped = [one for path in sorted(ROOT.glob("skeletons/*/evidence/*.json")) for one in read_evidence(path)]
    assert any("==" in one.file for one in shipped)
    for one in shipped:
        found = locate(one)
        assert isinstance(found, Needs)
        assert not any("sidecar" in sentence for sentence in found.sentences), found.sentences
        left = [sentence for sentence in found.sentences if "no GPU" not in sentence]
        assert all(one.file.partition(":")[0] in sentence for sentence in left)
        assert not left or "==" in one.file


def packaged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A wheel with the example's kernel at hand, a sidecar for it in the working directory, and evidence on it."""
    text, hooks = EXAMPLE.read_text(encoding="utf-8").split("def make_inputs", 1)
    text, run = text.split("def run(inputs)", 1)
    assert "row_norm_kernel" in text and run
    wheel = folder / "tinyops-1.0-py3-none-any.whl"
    launcher = f"{text}def launch(inputs){run}"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tinyops/__init__.py", "")
        archive.writestr("tinyops/norm.py", launcher)
    monkeypatch.setenv("SKEL_SOURCES", str(folder))
    Path("examples/sidecars").mkdir(parents=True)
    Path("examples/sidecars/tiny.py").write_text(
        'import torch\n\nTARGET = "tinyops/norm.py"\nPACKAGE = "tinyops==1.0"\n\n\n'
        "def run(inputs):\n    from tinyops.norm import launch\n\n    return launch(inputs)\n\n\n"
        f"def make_inputs{hooks}", encoding="utf-8",
    )
    return evidence(file="tinyops==1.0:tinyops/norm.py", source_sha256=sha256(launcher))


def test_a_sidecar_that_is_not_there_or_not_the_only_one(
    skel: Skel, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = packaged(tmp_path, monkeypatch)
    named = {"path": "tinyops/norm.py", "package": "tinyops==1.0", "sidecar": "tiny.py"}
    sidecar = Path("examples/sidecars/tiny.py")
    held = Evidence.model_validate(given)
    right = Evidence.model_validate(given | {"rerun": named | {"sidecar_sha256": sha256(sidecar.read_text())}})
    other = Evidence.model_validate(given | {"rerun": named | {"sidecar_sha256": "1" * 64}})
    for one in (held, right):
        found = locate(one)
        assert isinstance(found, Found) and found.sidecar == str(sidecar) and found.file.endswith("whl/tinyops/norm.py")
    sidecar.with_name("second.py").write_text(sidecar.read_text() + "# another\n")
    assert isinstance(locate(right), Found), "the evidence says which one it was"
    assert "several sidecars" in _sentences(held) and "tiny.py with sha256 1111" in _sentences(other)
    for path in Path("examples/sidecars").glob("*.py"):
        path.unlink()
    monkeypatch.setenv("SKEL_SOURCES", str(tmp_path / "empty"))
    said = _sentences(held)
    assert 'TARGET = "tinyops/norm.py"' in said and "pip download --no-deps tinyops==1.0" in said


def _sentences(one: Evidence) -> str:
    found = locate(one)
    assert isinstance(found, Needs)
    return "; ".join(found.sentences)


@pytest.mark.slow
def test_revalidate_runs_a_packages_file_by_its_sidecar(
    skel: Skel, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_gpu: None
) -> None:
    """Some is run again and some is not: both are said, and the status is that something ran."""
    gone = evidence(file="gone.py")
    key, missing = stored(skel, url, tmp_path, packaged(tmp_path, monkeypatch), gone)
    ended = skel("revalidate", "div_to_reciprocal", "--db", url, "--json")
    again, left = revalidated(ended, key, missing)
    assert again["verdict"] == "equivalent" and again["new_id"] and not again["needs"]
    assert left["verdict"] is None and left["needs"] == ["gone.py is not here"]
    assert ended.status == 0
    assert {name: ended.document[name] for name in ("stale", "ran", "not_run")} == {"stale": 2, "ran": 1, "not_run": 1}


@pytest.mark.slow
def test_revalidate_measures_again(skel: Skel, url: str, tmp_path: Path) -> None:
    (key,) = stored(skel, url, tmp_path, evidence())
    listed = skel("revalidate", "--db", url, "--json").document["revalidated"]
    (again,) = [one for one in listed if one["id"] == key]
    assert again["id"] == key and again["verdict"] == "equivalent" and again["new_id"] not in (None, key)
    listed = skel("evidence", "list", "div_to_reciprocal", "--db", url, "--json").document["evidence"]
    assert [one["status"] for one in listed] == ["stale", "hypothesis"]
