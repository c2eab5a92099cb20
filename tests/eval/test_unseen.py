"""Detectors against kernels written for this alone, in other styles and names than the libraries', and labelled before
any detector saw them.

`unseen/labels.json` and `unseen_second/labels.json` have the labels, by the rules of README.md; of what the first look
at each missed, kinds were mended. `missed` names what is still not found, so that a change of it shows.
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

HERE = Path(__file__).parent
FOLDERS = {"unseen": 25, "unseen_second": 40}
"""Sets, and how many kernels each has at least."""
LABELS: list[tuple[str, dict[str, Any]]] = [
    (folder, label)
    for folder in FOLDERS
    for label in json.loads((HERE / folder / "labels.json").read_text(encoding="utf-8"))
]
KINDS = ("uses", "opportunity")


@lru_cache(maxsize=16)
def views(folder: str, file: str) -> dict[str, KernelView]:
    path = HERE / folder / file
    module = load_module(path.read_text(encoding="utf-8"), str(path))
    return {k.name: KernelView(analyse(module, k)) for k in module.kernels}


def found_in(folder: str, label: dict[str, Any]) -> dict[str, set[str]]:
    """Techniques that are seen; nothing in a kernel that is not read at all."""
    view = views(folder, label["file"]).get(label["kernel"])
    if view is None:
        return {kind: set() for kind in KINDS}
    return {
        "uses": {n for n, d in DETECTORS.items() if d.uses(view)},
        "opportunity": {n for n, d in DETECTORS.items() if d.opportunities(view)},
    }


@pytest.mark.parametrize(("folder", "label"), LABELS, ids=lambda x: x if isinstance(x, str) else x["kernel"])
def test_what_is_labelled_is_found_and_nothing_else(folder: str, label: dict[str, Any]) -> None:
    for kind, names in found_in(folder, label).items():
        wanted, maybe = set(label[kind]), set(label[f"{kind}_maybe"])
        missed = set(label.get("missed", {}).get(kind, ()))
        assert names - maybe - wanted == set() and wanted - names == missed, kind


@pytest.mark.parametrize("folder", FOLDERS)
def test_few_labels_are_missed(folder: str) -> None:
    labels = [label for f, label in LABELS if f == folder]
    for kind in KINDS:
        missed = sum(len(label.get("missed", {}).get(kind, ())) for label in labels)
        assert missed <= 0.1 * sum(len(label[kind]) for label in labels), kind


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_entry_kernel_is_labelled_once(folder: str) -> None:
    labels = [label for f, label in LABELS if f == folder]
    files = [file.name for file in sorted((HERE / folder).glob("*.py"))]
    entries = [k for file in files for k, v in views(folder, file).items() if v.kernel.is_entry]
    labelled = [label["kernel"] for label in labels]
    assert set(entries) <= set(labelled) and len(labelled) == len(set(labelled)) >= FOLDERS[folder]
    assert all(set(label[k]) <= DETECTORS.keys() for label in labels for k in (*KINDS, *(f"{k}_maybe" for k in KINDS)))
