"""Ten samples of every refusal code with more than twenty hits, to be read: see results/refusals.json."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

from skel.rewriter.engine import Candidates, candidates
from skel.rewriter.result import Bug
from skel.store.load import load_skeleton

from .sources import ROOT, unpacked
from .state import Lines
from .table import LOOKED_AT, RESULTS

SAMPLES = 10


def add_samples(work: Path, file: Path = RESULTS / "refusals.json") -> list[str]:
    """Adds samples for the codes that have none yet, with an empty note for whoever reads them; which these are."""
    notes: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    hits: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for one in Lines(work / "applied.jsonl").read().values():
        for kernel in one.get("kernels", ()):
            for name, outcome in kernel["skeletons"].items():
                if isinstance(outcome, list):
                    hits[name, outcome[0][0]].append((one["package"], one["path"], kernel["kernel"]))
    added = []
    for (name, code), places in sorted(hits.items()):
        if len(places) <= LOOKED_AT or code in notes.get(name, {}):
            continue
        chosen = Random(f"{name} {code}").sample(sorted(places), SAMPLES)
        samples = [_sample(work, name, *place) for place in chosen]
        notes.setdefault(name, {})[code] = {"note": "", "samples": samples}
        added.append(f"{name} {code}")
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(dict(sorted(notes.items())), indent=1) + "\n", encoding="utf-8")
    return added


def _sample(work: Path, name: str, package: str, path: str, kernel: str) -> dict[str, Any]:
    place = unpacked(package, work) / path
    text = place.read_bytes().decode("utf-8")
    result = candidates(load_skeleton(ROOT / "skeletons" / name / "skeleton.yaml"), text, str(place), kernel)
    if isinstance(result, Candidates | Bug):
        return {"file": f"{package}/{path}", "kernel": kernel, "message": "no longer refused"}
    first = result.refusals[0]
    return {"file": f"{package}/{path}", "kernel": kernel, "line": first.line, "message": first.message}
