"""`skel evidence` and `skel revalidate`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from skel.store.canonical import sha256
from tests.cli.running import Skel

EXAMPLE = Path(__file__).parents[1] / "validation" / "fixtures" / "row_norm.py"


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


def test_revalidate_says_what_cannot_be_run(skel: Skel, url: str, tmp_path: Path) -> None:
    old = {"device": "NVIDIA H200", "triton": "3.2.0", "driver": "1"}
    items = [evidence(file="gone.py"), evidence(source_sha256="0" * 64)]
    keys = stored(skel, url, tmp_path, *items, evidence(level="timing", verdict="faster", environment=old))
    ended = skel("revalidate", "--db", url, "--json")
    why = sorted(one["why_not"] for one in ended.document["revalidated"] if one["id"] in keys)
    assert ended.status == 0 and len(why) == 3
    assert ("another text" in why[0] and "gone.py is not here" in why[1]) or "no GPU" in " ".join(why)


@pytest.mark.slow
def test_revalidate_measures_again(skel: Skel, url: str, tmp_path: Path) -> None:
    (key,) = stored(skel, url, tmp_path, evidence())
    revalidated = skel("revalidate", "--db", url, "--json").document["revalidated"]
    (again,) = [one for one in revalidated if one["id"] == key]
    assert again["id"] == key and again["verdict"] == "equivalent" and again["new_id"] not in (None, key)
    listed = skel("evidence", "list", "div_to_reciprocal", "--db", url, "--json").document["evidence"]
    assert [one["status"] for one in listed] == ["stale", "hypothesis"]
