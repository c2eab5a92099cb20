"""One file through the rewriter: read, written back, analysed, and every skeleton tried on every kernel it starts."""

from __future__ import annotations

import ast
import time
import traceback
from collections.abc import Sequence
from functools import cache
from typing import Any

from skel.rewriter.analysis.facts import analyse
from skel.rewriter.engine import Candidates, candidates, scan
from skel.rewriter.engine.registry import PRIMITIVES
from skel.rewriter.kernel.definition import choose_kernel, load_module, read_module
from skel.rewriter.kernel.edits import apply_edits
from skel.rewriter.kernel.source import read_source
from skel.rewriter.reasons import Refuse
from skel.rewriter.result import Bug
from skel.store.load import load_skeleton
from skel.store.schema import Skeleton

from .sources import ROOT, Source


@cache
def skeletons() -> tuple[Skeleton, ...]:
    """Every record that rewrites."""
    records = [load_skeleton(path) for path in sorted((ROOT / "skeletons").glob("*/skeleton.yaml"))]
    return tuple(r for r in records if r.schedule and all(s.primitive in PRIMITIVES for s in r.schedule))


def try_file(source: Source) -> dict[str, Any]:
    """What became of a file, as JSON. `faults` holds everything that is an error of ours."""
    begun = time.process_time()
    record: dict[str, Any] = {"package": source.package, "path": source.path, "faults": [], "kernels": []}
    data = source.file.read_bytes()
    try:
        text = data.decode("utf-8")
        module = load_module(text, str(source.file))
    except (UnicodeDecodeError, Refuse) as error:
        return record | {"read": False, "why": str(error)}
    record["read"] = True
    record["round_trip"] = apply_edits(module.source.text, []).encode() == data
    record["jit_functions"] = len(module.kernels)
    found = scan(text, str(source.file))
    record["faults"] += [{"doing": f.doing, "kernel": f.kernel, "traceback": f.traceback} for f in found.faults]
    for started in found.kernels:
        tried = try_kernel(text, source, started.kernel, record["faults"])
        seen = {o.skeleton: o.applicable for o in started.opportunities}
        record["kernels"].append(
            {"kernel": started.kernel, "line": started.line, "skeletons": tried, "opportunities": seen}
        )
    record["seconds"] = round(time.process_time() - begun, 2)
    return record


def try_kernel(text: str, source: Source, kernel: str, faults: list[dict[str, Any]]) -> dict[str, Any]:
    """By skeleton: the number of candidates, or the codes of the refusals with their lines."""
    tried: dict[str, Any] = {}
    for skeleton in skeletons():
        result = candidates(skeleton, text, str(source.file), kernel)
        if isinstance(result, Bug):
            faults.append({"doing": result.doing, "kernel": kernel, "traceback": result.traceback})
            tried[skeleton.name] = "bug"
        elif isinstance(result, Candidates):
            texts = [item.text for item in result.items]
            tried[skeleton.name] = len(texts)
            for trouble in unreadable(texts, source, kernel):
                faults.append({"doing": f"reading what {skeleton.name} gave", "kernel": kernel, "traceback": trouble})
        else:
            tried[skeleton.name] = [[r.code, *r.lines[:3]] for r in result.refusals]
    return tried


def unreadable(texts: Sequence[str], source: Source, kernel: str) -> list[str]:
    """Why results do not parse or cannot be analysed again, as tracebacks."""
    found = []
    for text in texts:
        try:
            ast.parse(text)
            module = read_module(read_source(text, str(source.file)))
            analyse(module, choose_kernel(module, kernel))
        except Exception:
            found.append(traceback.format_exc())
    return found
