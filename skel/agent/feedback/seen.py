"""What the interpreter saw of the stores, as findings: who wrote a wrong element, left one out, or wrote outside."""

from __future__ import annotations

from typing import Any

from skel.rewriter.reasons import finding
from skel.store.schema import Finding, Place


def seen_element(name: str, one: dict[str, Any], path: str) -> Finding | None:
    """Who stored the element that `one` is about, or that nobody did; None where the stores were not followed."""
    index = one["data"].get("first_index") or one["data"].get("index")
    if writer := one["data"].get("writer"):
        low, high = writer.get("tile", [index, index])
        return _finding("wrong_element", one, path, writer, output=name, index=index, tile=f"{low} to {high}")
    if (near := one["data"].get("unwritten")) is None:
        return None
    if not near:
        return finding(
            "unwritten_element", _place(one, path, {}), severity="error", measured=one["measured"],
            output=name, index=index, nearest="nothing before it either",
        )  # fmt: skip
    nearest = f"the last one before it, {near['element']}, is by program {_program(near)} of {near['kernel']} at line"
    return _finding("unwritten_element", one, path, near, output=name, index=index, nearest=f"{nearest} {near['line']}")


def seen_outside(one: dict[str, Any], path: str) -> Finding:
    """Who wrote past the end of a memory."""
    data = one["data"]
    where = {"side": data["side"], "tensor": data["tensor"], "bytes": data["bytes"]}
    return _finding("written_outside", one, path, data["writer"], **where)


def _finding(code: str, one: dict[str, Any], path: str, writer: dict[str, Any], **fields: Any) -> Finding:
    return finding(
        code,
        _place(one, path, writer),
        severity="error",
        measured=one["measured"],
        data={**fields, **writer},
        program=_program(writer),
        kernel=writer["kernel"],
        line=writer["line"],
        **fields,
    )


def _place(one: dict[str, Any], path: str, writer: dict[str, Any]) -> Place:
    line = writer.get("line") or None
    return Place(file=path, line=line, kernel=writer.get("kernel"), workload=one["place"]["workload"])


def _program(writer: dict[str, Any]) -> str:
    return f"({', '.join(map(str, writer['program']))})"
