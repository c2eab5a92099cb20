"""One Python file: every Triton kernel in it, with what the rewriter's detectors see, its resources and conditions."""

from __future__ import annotations

import traceback
from typing import Any

from skel.rewriter.detectors.view import launches_in
from skel.rewriter.engine.scan import FileScan, KernelScan, scan
from skel.rewriter.kernel.definition import KernelDef, Module, read_module
from skel.rewriter.kernel.source import read_source
from skel.rewriter.reasons import Refuse

from .certain import is_certain
from .comments import Comment, python_comments
from .conditions import conditions
from .digest import digest
from .model import Condition, MinedFile, MinedKernel, Occurrence
from .resources import resources

_LANGUAGES = ((b"triton", b"jit"), (b"cutlass", b"kernel"), (b"tilelang", b"prim_func"), (b"helion", b"kernel"))
"""Every file with a kernel, mined or only counted, holds both words of one of these."""
HAZARDS = {"same_value_store": "unguarded_invariant_store"}
"""Skeletons that name a hazard, by the finding that shows it. A result that depends on its tile is left out: partial
maxima and sums for another kernel do, and whether one is wrong takes a reference to say."""


def may_hold_kernels(data: bytes) -> bool:
    """False for a file that surely makes no kernel: most files of a library only call some."""
    return any(language in data and maker in data for language, maker in _LANGUAGES)


def mine_python(data: bytes, path: str, file: str) -> MinedFile:
    """What the file holds. `path` is its path within the source, `file` where imports are followed from.

    Never raises on a source's file: what cannot be read says why.
    """
    try:
        text = data.decode("utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8")
    except UnicodeDecodeError as error:
        return MinedFile(path, not_read=f"is not UTF-8 text: {error.reason} at byte {error.start}")
    scanned = scan(text, file)
    if scanned.not_read is not None:
        return MinedFile(path, not_read=scanned.not_read)
    faults = [f"{f.kernel}: {f.doing}: {f.traceback.strip().splitlines()[-1]}" for f in scanned.faults]
    kernels: list[MinedKernel] = []
    if scanned.kernels:
        try:
            module = read_module(read_source(text, file))
        except Refuse as refused:
            return MinedFile(path, not_read=refused.refusal.message)
        comments = python_comments(text)
        for one in scanned.kernels:
            kernel = next(k for k in module.kernels if k.name == one.kernel and k.node.lineno == one.line)
            kernels.append(_kernel(module, kernel, one, scanned, comments, path, faults))
    return MinedFile(path, tuple(kernels), None, tuple(faults), dict(scanned.other_languages), scanned.files_read)


def _kernel(
    module: Module,
    kernel: KernelDef,
    scanned: KernelScan,
    file: FileScan,
    comments: tuple[Comment, ...],
    path: str,
    faults: list[str],
) -> MinedKernel:
    launches = launches_in(module, kernel)
    node = kernel.node
    about: dict[str, Any] = {}
    said: tuple[Condition, ...] = ()
    try:
        about, said = resources(module, kernel, launches), conditions(module, kernel, launches, comments)
    except Exception:  # a fault of ours must not end the mining of a source
        faults.append(f"{kernel.name}: reading what is round it: {traceback.format_exc().strip().splitlines()[-1]}")
    return MinedKernel(
        path,
        kernel.name,
        node.lineno,
        node.end_lineno or node.lineno,
        "triton",
        digest(node),
        about,
        said,
        tuple(one for one in _occurrences(scanned, file) if is_certain(one, module, kernel)),
    )


def _occurrences(scanned: KernelScan, file: FileScan) -> list[Occurrence]:
    found = [Occurrence(use.skeleton, "uses", use.line, use.why) for use in scanned.uses]
    found += [
        Occurrence(
            o.skeleton, "could_use", o.line, o.why, o.applicable, tuple(dict.fromkeys(r.code for r in o.refusals))
        )
        for o in scanned.opportunities
    ]
    for finding in file.findings:
        skeleton = HAZARDS.get(finding.code)
        if skeleton is None or finding.place.kernel != scanned.kernel:
            continue
        if skeleton not in {o.technique for o in found if o.role == "hazard"}:
            found.append(Occurrence(skeleton, "hazard", finding.place.line or scanned.line, finding.message))
    return found
