"""Captures: what is recorded, that it replays in a fresh process, and what it says of candidates."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from skel.gpu import gpu_names
from skel.validation.check import check
from skel.validation.isolation import Workers
from skel.validation.workloads import SidecarError, subject_of
from skel.validation.workloads.capture.archive import Capture, CaptureError, is_capture
from skel.validation.workloads.capture.command import Captured, capture
from skel.validation.workloads.capture.summary import summary
from skel.validation.workloads.capture.values import restore

from ..conftest import QUICK

SCRIPTS = Path(__file__).parent / "scripts"
ADDS = SCRIPTS / "adds.py"
ROOT = str(Path(__file__).parents[3])
WHEELS = Path(ROOT) / ".cache" / "wheels"


def record(out: Path, script: Path, *words: str, interpret: bool = True, choice: str = "stored") -> Captured:
    before = os.environ.copy()
    os.environ.pop("TRITON_INTERPRET", None)
    os.environ |= {"TRITON_INTERPRET": "1"} if interpret else {}
    try:
        return capture([sys.executable, str(script), *words], out, choice)
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture(scope="module")
def adds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("capture") / "adds.zip"
    captured = record(out, ADDS)
    assert captured.status == 0
    return out


def test_what_is_recorded(adds: Path) -> None:
    held = Capture(adds)
    first, tuned, alone = held.launches
    assert (first["kernel"], first["grid"], first["count"]) == ("add_kernel", [3], 3)
    assert first["options"] == {"num_warps": 2}
    assert first["constexprs"] == ["BD"] and first["arguments"]["BD"] == 16 and first["arguments"]["D"] == 40
    x, y, out = first["tensors"]
    assert x["storage"] == y["storage"] != out["storage"], "the inputs are views of one storage"
    assert y["offset"] == 40 and y["shape"] == [40] and y["dtype"] == "float32"
    assert tuned["autotuned"]["BD"] == 8 and tuned["configurations"] == 2 and tuned["heuristics"] == ["EVEN"]
    assert tuned["arguments"]["EVEN"] is True
    call, scaled, launch = held.calls
    assert (call["kind"], call["name"], call["count"]) == ("function", "add", 3)
    assert call["order"] == ["x", "y"] and call["keywords"] == ["tile"] and call["arguments"]["tile"] == 16
    assert scaled["changed"] == [0] and scaled["name"] == "scale_"
    assert (launch["kind"], launch["grid"]) == ("kernel", [5]) and alone["launchers"] == []
    assert held.manifest["sources"][call["sha256"]] == str(ADDS)
    with zipfile.ZipFile(adds) as archive:
        assert archive.read(f"sources/{call['sha256']}.py") == ADDS.read_bytes()


def test_calls_are_the_same_in_a_fresh_process(adds: Path) -> None:
    found = verify(adds)
    assert {entry["name"] for entry in found} == {"add", "scale_", "add_kernel"}
    assert all(entry["equal"] for entry in found), found


def test_a_capture_judges_candidates_with_another_grid(adds: Path, tmp_path: Path, interpreting: Workers) -> None:
    """Of a script whose every launch has a launcher, so that a candidate may change it."""
    text = ADDS.read_text(encoding="utf-8").replace("Adder()(added, both[40:])\n", "")
    script = tmp_path / "adds.py"
    script.write_text(text, encoding="utf-8")
    out = tmp_path / "capture.zip"
    record(out, script)
    wider = text.replace("tile=16", "tile=32").replace("BD=tile", "BD=32").replace("x.numel(), tile)", "x.numel(), 32)")
    wrong = wider.replace("(x.numel(), 32)", "(x.numel(), 64)")
    texts = [text, wider, wrong]
    report = check(text, texts, str(script), workload_file=str(out), workers=interpreting, protocol=QUICK)
    assert [one.verdict.value for one in report.candidates] == ["equivalent", "equivalent", "wrong"], report
    assert [w.label.split(" (")[0] for w in report.candidates[0].workloads] == ["call 0 of add", "call 1 of scale_"]


def test_a_launch_alone_judges_only_candidates_that_keep_it(adds: Path, interpreting: Workers) -> None:
    text = ADDS.read_text(encoding="utf-8")
    body, host = text.replace("mask=o < D) +", "mask=o < D) -"), text.replace("tile=16", "tile=32")
    report = check(text, [text, body, host], str(ADDS), workload_file=str(adds), workers=interpreting, protocol=QUICK)
    assert [one.verdict.value for one in report.candidates] == ["equivalent", "wrong", "inconclusive"]
    assert [finding.code for finding in report.candidates[2].findings] == ["launch_not_replayed"]


def test_other_seeds_keep_signs_and_sizes(adds: Path) -> None:
    held = Capture(adds)
    (x, _), (other, _) = (restore(held, held.calls[0], "before", seed, "cpu")[:2] for seed in (0, 5))
    assert not x.equal(other) and x.sign().equal(other.sign())
    assert ((x - other).abs() <= 0.11 * x.abs()).all()


def test_values_may_be_described_instead(tmp_path: Path) -> None:
    out = tmp_path / "c.zip"
    captured = record(out, ADDS, choice="statistics")
    document = summary(captured, str(out))
    assert document["values"] == "statistics" and document["calls"][0]["values"] == ["regenerated"]
    assert "values_regenerated" in {finding["code"] for finding in document["findings"]}
    held = Capture(out)
    assert not held.tensors(0, "before")
    x = restore(held, held.calls[0], "before", 0, "cpu")[0]
    figures = held.calls[0]["pieces_before"][0]["statistics"]
    assert figures["min"] <= x.min() and x.max() <= figures["max"] and abs(float(x.std()) - figures["std"]) < 0.5


def test_launches_are_compiled_where_they_cannot_run(tmp_path: Path) -> None:
    out = tmp_path / "c.zip"
    document = summary(record(out, ADDS, interpret=False), str(out))
    assert document["mode"] in ("compile", "gpu")
    if document["mode"] == "compile":
        values = [call["values"] for call in document["calls"]]
        assert values == [["stored"], ["assumed"], ["assumed", "stored", "assumed"]]
        assert "values_assumed" in {finding["code"] for finding in document["findings"]}
    assert [launch["replayed_by"] for launch in document["launches"]] == ["add", "scale_", "itself"]


def test_a_command_that_fails_keeps_what_it_launched(tmp_path: Path) -> None:
    out = tmp_path / "c.zip"
    captured = record(out, ADDS, "fail")
    assert captured.status == 7 and len(Capture(out).launches) == 3
    assert summary(captured, str(out))["findings"][0]["code"] == "command_failed"
    nothing = tmp_path / "n.zip"
    script = tmp_path / "n.py"
    script.write_text("import torch\n", encoding="utf-8")
    captured = record(nothing, script)
    assert not nothing.exists() and summary(captured, "n")["findings"][0]["code"] == "no_launch_recorded"


def test_what_is_no_capture(tmp_path: Path, adds: Path) -> None:
    text = tmp_path / "a.zip"
    text.write_text("no zip", encoding="utf-8")
    assert not is_capture(str(text)) and is_capture(str(adds))
    with pytest.raises(CaptureError):
        Capture(text)
    with pytest.raises(SidecarError, match="holds no call"):
        subject_of("x = 1", str(tmp_path / "other.py"), str(adds))


@pytest.fixture
def fla(tmp_path: Path) -> str:
    """A PYTHONPATH with fla-core and what it needs, out of the wheels that `make test` downloads."""
    found = [next(WHEELS.glob(name), None) for name in ("fla_core-0.6.0-*.whl", "einops-*.whl")]
    if None in found:
        pytest.skip("no fla-core or einops in .cache/wheels: `make test` downloads them")
    folder = tmp_path / "packages"
    for wheel in filter(None, found):
        zipfile.ZipFile(wheel).extractall(folder)
    return str(folder)


def test_public_operators_of_fla(tmp_path: Path, fla: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fourteen of them, on a GPU where there is one."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([fla, ROOT]))
    out = tmp_path / "fla.zip"
    captured = record(out, SCRIPTS / "fla_operators.py", interpret=not gpu_names())
    assert captured.status == 0
    document = summary(captured, str(out))
    assert document["mode"] == ("gpu" if gpu_names() else "interpreter")
    assert all(launch["replayed_by"] not in ("nothing", "itself") for launch in document["launches"])
    assert len({(call["module"], call["name"]) for call in document["calls"]}) >= 10
    found = verify(out, fla)
    assert len({entry["call"] for entry in found}) == len(document["calls"])
    assert all(entry["equal"] for entry in found), [entry for entry in found if not entry["equal"]]


def verify(path: Path, packages: str | None = None) -> list[dict[str, Any]]:
    """The capture's calls made again in a fresh process; where `packages` are given, on a GPU if there is one."""
    gpu = bool(packages and gpu_names())
    places = [*([packages] if packages else []), ROOT, *sys.path]
    own = {"PYTHONPATH": os.pathsep.join(places)} | ({} if gpu else {"TRITON_INTERPRET": "1"})
    done = subprocess.run(
        [sys.executable, "-m", "skel.validation.workloads.capture.verify", str(path), "cuda" if gpu else "cpu"],
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return list(json.loads(done.stdout))
