"""Detectors against kernels written for this alone, in other styles and names than the libraries', and labelled before
any detector saw them.

`unseen/labels.json` has the labels, by the rules of README.md; of what the first look missed, kinds were mended.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from skel.rewriter.analysis.facts import analyse
from skel.rewriter.detectors import DETECTORS, KernelView
from skel.rewriter.kernel.definition import load_module

FOLDER = Path(__file__).parent / "unseen"
LABELS: list[dict[str, Any]] = json.loads((FOLDER / "labels.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=16)
def views(file: str) -> dict[str, KernelView]:
    path = FOLDER / file
    module = load_module(path.read_text(encoding="utf-8"), str(path))
    return {k.name: KernelView(analyse(module, k)) for k in module.kernels}


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label["kernel"])
def test_what_is_labelled_is_found_and_nothing_else(label: dict[str, Any]) -> None:
    view = views(label["file"])[label["kernel"]]
    found = {"uses": {n for n, d in DETECTORS.items() if d.uses(view)},
             "opportunity": {n for n, d in DETECTORS.items() if d.opportunities(view)}}
    for kind, names in found.items():
        wanted, maybe = set(label[kind]), set(label[f"{kind}_maybe"])
        assert names - maybe - wanted == set() and wanted - names == set(), kind


def test_every_entry_kernel_is_labelled_once() -> None:
    entries = [k for file in sorted(FOLDER.glob("*.py")) for k, v in views(file.name).items() if v.kernel.is_entry]
    assert sorted(entries) == sorted(label["kernel"] for label in LABELS) and len(entries) >= 25
    assert all(set(label[kind]) <= DETECTORS.keys() for label in LABELS
               for kind in ("uses", "uses_maybe", "opportunity", "opportunity_maybe"))
