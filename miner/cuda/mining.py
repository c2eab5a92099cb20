"""All CUDA files of a source: every kernel, and the device and host functions that show a technique themselves."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from typing import Any

from skel.miner.code.comments import joined, shortened, states_number
from skel.miner.code.model import Condition, MinedFile, MinedKernel, Occurrence
from skel.rewriter.detectors.base import Seen, merged

from .detectors.registry import DETECTORS
from .functions import CudaFile, CudaFunction, below, plain, read_cuda, text_of
from .index import Index
from .preprocess import Meaning, macros_in

SUFFIXES = (".cu", ".cuh", ".cpp", ".hpp")
MOST_CONDITIONS = 60
MOST_CONSTANTS = 32
_CHECK = re.compile(r"assert|check|trap_only", re.IGNORECASE)


def mine_cuda(files: Iterable[tuple[str, bytes]]) -> list[MinedFile]:
    """What the files hold, together: a helper in one file shows in the kernels of another. Never raises on a file."""
    texts = sorted(files)
    macros: dict[str, Meaning] = {}
    for _, data in texts:
        macros |= macros_in(data)
    parsed: list[CudaFile] = []
    broken: list[MinedFile] = []
    for path, data in texts:
        if b"\0" in data:
            broken.append(MinedFile(path, not_read="is no text"))
        else:
            parsed.append(read_cuda(path, data, macros))
    index = Index(tuple(parsed))
    return sorted([*broken, *(_file(file, index) for file in parsed)], key=lambda f: f.path)


def _file(file: CudaFile, index: Index) -> MinedFile:
    faults: list[str] = []
    comments = [c for c in joined(list(file.comments)) if states_number(c.text)]
    kernels = []
    for function in file.functions:
        found = _occurrences(function, index, faults)
        if not function.is_kernel and not found:
            continue
        said = _conditions(function)
        for comment in comments:
            if function.line <= comment.end_line + 1 and comment.line <= function.end_line:
                said.append(Condition("comment", comment.line, shortened(comment.text)))
        kernels.append(MinedKernel(
            file.path, function.name, function.line, function.end_line,
            "host" if function.meaning == "nothing" else "cuda", function.digest, _resources(function),
            tuple(sorted(said, key=lambda c: (c.line, c.kind)))[:MOST_CONDITIONS], found,
        ))  # fmt: skip
    return MinedFile(file.path, tuple(kernels), None, tuple(faults))


def _occurrences(function: CudaFunction, index: Index, faults: list[str]) -> tuple[Occurrence, ...]:
    found = []
    for skeleton, detector in DETECTORS.items():
        if function.meaning == "nothing" and not detector.hosts:
            continue
        try:
            used = merged(_own(function, detector.uses(function, index)))
            seen = merged(_own(function, detector.opportunities(function, index)))
        except Exception:  # a fault of ours must not end the mining of a source
            faults.append(f"{function.name}: {skeleton}: {traceback.format_exc().strip().splitlines()[-1]}")
            continue
        if used is not None:
            found.append(Occurrence(skeleton, "uses", used.line, used.why))
        if seen is not None:
            found.append(Occurrence(skeleton, "could_use", seen.line, seen.why))
    return tuple(found)


def _own(function: CudaFunction, found: list[Seen]) -> list[Seen]:
    """A helper stands for what it does itself; what it calls stands for the rest."""
    return found if function.is_kernel else [seen for seen in found if ", in " not in seen.why]


def _resources(function: CudaFunction) -> dict[str, Any]:
    """Launch bounds, template parameters and the numbers that the kernel fixes."""
    found: dict[str, Any] = {"parameters": len(function.parameters)}
    if function.bounds:
        found["bounds"] = list(function.bounds)
    parent = function.node.parent
    listed = parent.child_by_field_name("parameters") if parent and parent.type == "template_declaration" else None
    if listed is not None:
        found["template"] = [shortened(plain(node)) for node in listed.named_children if node.type != "comment"]
    constants: dict[str, str] = {}
    for node in function.of("declaration"):
        if not any(text_of(n) == "constexpr" for n in node.children):
            continue
        for inner in node.children:
            if inner.type == "init_declarator":
                name, value = inner.child_by_field_name("declarator"), plain(inner.child_by_field_name("value"))
                if re.search(r"\d", value) and len(value) <= 80:
                    constants.setdefault(plain(name), value)
    if constants:
        found["constants"] = dict(list(constants.items())[:MOST_CONSTANTS])
    return found


def _conditions(function: CudaFunction) -> list[Condition]:
    found = [Condition("bound", function.line, bound) for bound in function.bounds]
    for node in function.of("static_assert_declaration"):
        found.append(Condition("assert", node.start_point[0] + 1, shortened(plain(node))))
    for call in function.calls:
        if _CHECK.search(call.name) and call.arguments:
            found.append(Condition("assert", call.line, shortened(", ".join(plain(a) for a in call.arguments))))
    for node in function.of("if_statement"):
        test = node.child_by_field_name("condition")
        if (
            test is not None
            and any(n.type == "number_literal" for n in below(test))
            and b"constexpr" in (node.text or b"")[:16]
        ):
            found.append(Condition("guard", node.start_point[0] + 1, shortened(f"if constexpr {plain(test)}")))
    return found
