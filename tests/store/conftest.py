"""Small records for the store's tests, so that they hold whatever the packaged records say."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from skel.store.database import Database, open_database
from skel.store.schema.evidence import Environment, Evidence
from skel.store.schema.words import Verdict

Write = Callable[..., Path]

_RECORDS: dict[str, dict[str, Any]] = {
    "share_norm": {
        "title": "Compute a shared norm once",
        "summary": "Programs that differ in their tile only repeat the same normalisation; do it once.",
        "symptoms": {"en": ["Every tile repeats the same RMSNorm of its row.", "Redundant work fills the profile."],
                     "zh": ["每个分块都重复计算归一化。"]},
        "tags": ["l2norm", "redundant normalization"],
        "applies_if": ["A reduction does not depend on the tiled axis."],
    },
    "wide_index": {
        "title": "Widen an index to int64",
        "summary": "A 32-bit offset wraps in a tensor of over two billion elements; cast the index at its root.",
        "symptoms": {"en": ["Results are wrong only for very large tensors."], "zh": ["偏移量溢出导致结果错误。"]},
        "tags": ["int64", "overflow"],
    },
    "split_sum": {
        "title": "Split a long reduction over programs",
        "summary": "Few output tiles with a long K leave the chip empty; add an axis over K and sum with atomics.",
        "symptoms": {"en": ["A GEMM with a tiny output leaves most multiprocessors idle."]},
        "tags": ["split-k", "atomic accumulation"],
    },
    "cache_policy": {
        "title": "Name the eviction policy of a load",
        "summary": "Streamed data evicts what is read again; hints such as evict_first keep the cache for the rest.",
        "symptoms": {"en": ["Streaming loads push reused weights out of the L2 cache."]},
        "tags": ["evict_last", "eviction policy"],
    },
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes `records/NAME/skeleton.yaml` (JSON is YAML); keyword arguments replace or, with None, drop fields."""

    def write(name: str, **fields: Any) -> Path:
        record = {"name": name, "title": name, "summary": f"About {name}.", "symptoms": {"en": [f"See {name}."]},
                  "kind": "local", "numerics": {"result": "bitwise", "why": "Nothing moves."},
                  **_RECORDS.get(name, {}), **fields}
        path = tmp_path / "records" / name / "skeleton.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({key: value for key, value in record.items() if value is not None}, indent=1,
                                   ensure_ascii=False), encoding="utf-8")
        return path

    return write


@pytest.fixture
def records(write: Write, tmp_path: Path) -> Path:
    """A folder of four records."""
    for name in _RECORDS:
        write(name)
    return tmp_path / "records"


@pytest.fixture
def database(records: Path, tmp_path: Path) -> Database:
    """A new database filled from `records`."""
    return open_database(str(tmp_path / "skel.db"), records)


@pytest.fixture
def measured() -> Callable[..., Evidence]:
    """Builds a piece of evidence; keyword arguments replace fields."""

    def measured(**fields: Any) -> Evidence:
        return Evidence.model_validate({
            "skeleton": "share_norm", "kernel": "step", "file": "step.py", "source_sha256": "0" * 64,
            "level": "numerics", "verdict": Verdict.EQUIVALENT, "measured_at": datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
            "environment": Environment(device="cpu", triton="3.7.1"), **fields})

    return measured
