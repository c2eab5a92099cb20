"""Text for a scratch in memory that two kernels share: where a program's part lies, and the places in it."""

from __future__ import annotations

from collections.abc import Sequence

from .producer_slice import Saved


def places(saved: Sequence[Saved], pointer: str, language: str) -> dict[str, str]:
    """The address of each saved value in the program's part of the scratch: one value after the other."""
    found: dict[str, str] = {}
    offsets: list[str] = []
    for one in saved:
        parts = [pointer, *offsets]
        match one.sizes:
            case (size,):
                parts.append(f"{language}.arange(0, {size})")
            case (rows, columns):
                parts.append(f"{language}.arange(0, {rows})[:, None] * {columns}")
                parts.append(f"{language}.arange(0, {columns})[None, :]")
        found[one.name] = " + ".join(parts)
        offsets.append(" * ".join(one.sizes) or "1")
    return found


def numel(saved: Sequence[Saved]) -> str:
    """Elements of a program's part."""
    return " + ".join(" * ".join(one.sizes) or "1" for one in saved)


def bracketed(text: str) -> str:
    """A factor: in brackets unless it is one name or number."""
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def program(language: str, axis: int | None, rank: int) -> str:
    """The number of the program as int64; where an axis is given, among those that differ in another one."""
    text, step = "", ""
    for number in (n for n in range(rank) if n != axis):
        part = f"{language}.program_id({number})"
        text += f" + {step} * {part}" if step else part
        step += f"{' * ' if step else ''}{language}.num_programs({number})"
    return f"({text}).to({language}.int64)" if " + " in text else f"{text}.to({language}.int64)"
