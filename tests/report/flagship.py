"""The report of the example that the README shows, from the evidence that ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.report import Piece, Report, view_of
from skel.store.canonical import canonical_json, sha256
from skel.store.evidence import load_evidence
from skel.store.evidence_status import status_of
from skel.store.load import load_skeleton

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "skeletons" / "fuse_vtiles"
KERNEL = "kda_decode_kernel"


def flagship_report() -> Report:
    """Its timing with the widest search, with the changed lines, and the status it has where it was measured."""
    found = [one for path in sorted((RECORD / "evidence").glob("*.json")) for one in load_evidence(path)]
    timed = [one for one in found if one.kernel == KERNEL and one.level == "timing"]
    evidence = max(timed, key=lambda one: len((one.timing or {})["screening"]))
    record = load_skeleton(RECORD / "skeleton.yaml")
    piece = Piece(sha256(canonical_json(evidence)), evidence, status_of(evidence, evidence.environment), (), record)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return view_of([piece])
