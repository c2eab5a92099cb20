"""Making CUDA readable for a grammar of C++: what stands before a function is blanked, byte for byte, and remembered.

A grammar knows neither a library's macros (`CUTLASS_DEVICE`, `SGL_DEVICE`, a kernel's own `C4_KERNEL`) nor where
`__launch_bounds__` may stand. Blanks keep every position as it was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Meaning = Literal["global", "device", "nothing"]

KNOWN: dict[str, Meaning] = {
    "__global__": "global", "CUTLASS_GLOBAL": "global",
    "__device__": "device", "CUTLASS_DEVICE": "device", "CUTLASS_HOST_DEVICE": "device", "CUTE_DEVICE": "device",
    "CUTE_HOST_DEVICE": "device", "CUTLASS_DEVICE_NOINLINE": "device", "CUTLASS_HOST_DEVICE_NOINLINE": "device",
    "__host__": "nothing", "CUTE_HOST": "nothing", "CUTLASS_HOST": "nothing", "__forceinline__": "nothing",
    "__noinline__": "nothing", "__grid_constant__": "nothing", "__restrict__": "nothing", "__restrict": "nothing",
    "CUTE_UNROLL": "nothing", "CUTE_NO_UNROLL": "nothing", "CUTLASS_PRAGMA_UNROLL": "nothing",
    "CUTLASS_PRAGMA_NO_UNROLL": "nothing",
}  # fmt: skip
"""What CUDA's own words and those of CUTLASS, which lies outside the sources, say of a function."""
_BOUNDED = ("__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__", "__align__", "alignas")
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:[ \t]+((?:[^\n]*\\\r?\n)*[^\n]*))?$", re.MULTILINE)
_ATTRIBUTE = r"__attribute__\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)"
_LONGEST = 4096
"""Bytes of a launch bound at most: one that never closes is none."""
_TOKEN = re.compile(
    rb"//[^\n]*|/\*.*?(?:\*/|\Z)"
    rb"|R\"(\w*)\(.*?(?:\)\1\"|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
    rb"|\b[A-Za-z_]\w*\b",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Marked:
    """A file made readable."""

    data: bytes
    """As long as the original."""
    marks: tuple[tuple[int, Meaning], ...]
    """Byte offsets of the words that make a function a kernel, or device code."""
    bounds: tuple[tuple[int, str], ...]
    """Byte offsets and texts of launch bounds and cluster sizes."""


def macros_in(data: bytes) -> dict[str, Meaning]:
    """Macros of a file that stand before functions or loops, by what they say."""
    found: dict[str, Meaning] = {}
    for name, body in _DEFINE.findall(data):
        text = body.decode("utf-8", "replace")
        if "{" in text or ";" in text:
            continue
        if "__global__" in text:
            found[name.decode()] = "global"
        elif "__device__" in text:
            found[name.decode()] = "device"
        elif re.fullmatch(rf"_Pragma\(.*\)|(?:inline|static|__forceinline__|{_ATTRIBUTE}|\s)+", text.strip()):
            found[name.decode()] = "nothing"
    return found


def marked(data: bytes, macros: dict[str, Meaning]) -> Marked:
    """Blank what the grammar does not know, outside comments, strings and directives."""
    out = bytearray(data)
    marks: list[tuple[int, Meaning]] = []
    bounds: list[tuple[int, str]] = []
    words = {**macros, **KNOWN}
    directives = _directives(data)
    for token in _TOKEN.finditer(data):
        start, end = token.span()
        word = token.group().decode("utf-8", "replace")
        if not (word[0].isalpha() or word[0] == "_") or directives[start]:
            continue
        if word in _BOUNDED:
            close = _closing(data, end)
            if close is None:
                continue
            if word not in ("__align__", "alignas"):
                bounds.append((start, re.sub(r"\s+", " ", data[start:close].decode("utf-8", "replace"))))
            _blank(out, start, close)
        elif word in words:
            meaning = words[word]
            if meaning != "nothing":
                marks.append((start, meaning))
            _blank(out, start, end)
            defined = macros.get(word)
            if defined == "global" and word not in KNOWN:
                bounds.append((start, word))
    return Marked(bytes(out), tuple(marks), tuple(bounds))


def _blank(out: bytearray, start: int, end: int) -> None:
    for at in range(start, end):
        if out[at] not in b"\r\n":
            out[at] = 0x20


def _closing(data: bytes, start: int) -> int | None:
    """The offset after the parenthesis that closes the one which follows `start`; None where none is near."""
    at = start
    while at < len(data) and data[at] in b" \t\r\n":
        at += 1
    if at >= len(data) or data[at] != 0x28:
        return None
    depth = 0
    for end in range(at, min(len(data), at + _LONGEST)):
        depth += (data[end] == 0x28) - (data[end] == 0x29)
        if depth == 0:
            return end + 1
    return None


def _directives(data: bytes) -> bytearray:
    """1 for every byte of a preprocessor line."""
    flags = bytearray(len(data) + 1)
    for match in re.finditer(rb"^[ \t]*#(?:[^\n]*\\\r?\n)*[^\n]*", data, re.MULTILINE):
        flags[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return flags
