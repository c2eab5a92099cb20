"""Detectors against the labelled kernels of detect_dev.jsonl, read out of the wheels that `make test` downloads.

Prints precision and recall for each technique (`pytest -s`), and holds floors over all of them. README.md has the rules
behind the labels.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from skel.rewriter.analysis.facts import analyse
from skel.rewriter.detectors import DETECTORS, KernelView
from skel.rewriter.kernel.definition import load_module

HERE = Path(__file__).parent
WHEELS = HERE.parents[1] / ".cache" / "wheels"
PACKAGES = {"fla-core": ("fla_core-0.6.0-*.whl", "fla/"), "sglang": ("sglang-0.5.23-*.whl", "sglang/kernels/")}
"""Per package: its wheel, and the part of it that is unpacked (helpers are read from files beside a kernel's)."""
LABELS: list[dict[str, Any]] = [json.loads(line) for line in (HERE / "detect_dev.jsonl").read_text().splitlines()]
FLOORS = {"uses": (0.90, 0.92), "opportunity": (0.80, 0.90)}
"""Precision and recall over all techniques."""


def wheel(package: str) -> Path:
    """The package's wheel; skips where it was not downloaded."""
    found = sorted(WHEELS.glob(PACKAGES[package][0]))
    if not found:
        pytest.skip(f"no {PACKAGES[package][0]} in .cache/wheels: `make test` downloads it")
    return found[0]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python files of both packages, unpacked."""
    folder = tmp_path_factory.mktemp("sources")
    for package, (_, prefix) in PACKAGES.items():
        with zipfile.ZipFile(wheel(package)) as archive:
            archive.extractall(folder, [n for n in archive.namelist() if n.startswith(prefix) and n.endswith(".py")])
    return folder


@dataclass
class Score:
    """True positives, false positives and misses by technique."""

    hits: Counter[str] = field(default_factory=Counter)
    extra: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    def add(self, wanted: set[str], maybe: set[str], found: set[str]) -> None:
        self.hits.update(wanted & found)
        self.extra.update(found - wanted - maybe)
        self.missed.update(wanted - found)

    def precision(self) -> float:
        return self.hits.total() / (self.hits.total() + self.extra.total())

    def recall(self) -> float:
        return self.hits.total() / (self.hits.total() + self.missed.total())

    def table(self, kind: str) -> str:
        names = sorted(self.hits | self.extra | self.missed)
        rows = [f"  {n:22} {self.hits[n]:3} right {self.extra[n]:3} wrong {self.missed[n]:3} missed" for n in names]
        return "\n".join([f"{kind}: precision {self.precision():.3f}, recall {self.recall():.3f}", *rows])


@lru_cache(maxsize=64)
def detected(folder: Path, number: int) -> dict[str, frozenset[str]]:
    """Techniques that the detectors see in a labelled kernel."""
    label = LABELS[number]
    file = folder / label["file"]
    module = load_module(file.read_text(encoding="utf-8"), str(file))
    (kernel,) = module.kernels_named(label["kernel"])
    view = KernelView(analyse(module, kernel))
    return {"uses": frozenset(n for n, d in DETECTORS.items() if d.uses(view)),
            "opportunity": frozenset(n for n, d in DETECTORS.items() if d.opportunities(view))}


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label["kernel"])
def test_the_labelled_text_is_the_one_in_the_wheel(sources: Path, label: dict[str, Any]) -> None:
    text = (sources / label["file"]).read_bytes()
    assert hashlib.sha256(text).hexdigest() == label["sha256_of_file"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", FLOORS)
def test_precision_and_recall(sources: Path, kind: str) -> None:
    score = Score()
    for number, label in enumerate(LABELS):
        score.add(set(label[kind]), set(label[f"{kind}_maybe"]), set(detected(sources, number)[kind]))
    print(f"\n{score.table(kind)}")
    precision, recall = FLOORS[kind]
    assert score.precision() >= precision and score.recall() >= recall, score.table(kind)


@pytest.mark.slow
def test_tile_fusion_is_seen_where_it_pays_and_nowhere_else(sources: Path) -> None:
    seen = {v: {} for v in ("strong", "near_miss")}  # type: dict[str, dict[str, bool]]
    for number, label in enumerate(LABELS):
        if label["t1"]["verdict"] in seen:
            found = detected(sources, number)["opportunity"]
            seen[label["t1"]["verdict"]][label["kernel"]] = "fuse_vtiles" in found
    assert all(seen["strong"].values()) and not any(seen["near_miss"].values()), seen
