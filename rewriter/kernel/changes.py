"""Changes to a launcher, gathered before they become edits, so that several primitives can share a line or a call."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..reasons import refuse
from .definition import Module
from .edits import Edit
from .insert import insert_arguments, insert_lines


@dataclass(frozen=True)
class Spot:
    """Where a new line goes: right after a statement, or right before it."""

    statement: ast.stmt
    before: bool = False


@dataclass
class Changes:
    """Edits, new lines, dict entries and keywords; `edits()` renders them."""

    spans: list[Edit] = field(default_factory=list)
    lines: dict[Spot, list[str]] = field(default_factory=dict)
    entries: dict[tuple[Spot, str], dict[str, str]] = field(default_factory=dict)
    """Entries to set in a dict held by a local name: key to source text."""
    inline: dict[ast.expr, dict[str, str]] = field(default_factory=dict)
    """Entries to set in the operand of a `**` at a launch."""
    keywords: dict[ast.Call, dict[str, str]] = field(default_factory=dict)

    def replace(self, module: Module, node: ast.AST, text: str) -> None:
        """Replace a node's source unless it already reads so."""
        start, end = module.source.span(node)
        if module.source.text[start:end] != text:
            self.spans.append(Edit(start, end, text))

    def add_line(self, spot: Spot, text: str) -> None:
        lines = self.lines.setdefault(spot, [])
        if text not in lines:
            lines.append(text)

    def set_entry(self, spot: Spot, name: str, key: str, text: str) -> None:
        self.entries.setdefault((spot, name), {})[key] = text

    def set_inline(self, operand: ast.expr, key: str, text: str) -> None:
        self.inline.setdefault(operand, {})[key] = text

    def add_keyword(self, call: ast.Call, name: str, text: str) -> None:
        self.keywords.setdefault(call, {})[name] = text

    def edits(self, module: Module) -> list[Edit]:
        """All changes as edits in source order. Raises Refuse(unknown_construct) where a line cannot stand alone."""
        lines = {spot: list(texts) for spot, texts in self.lines.items()}
        for (spot, name), entries in self.entries.items():
            lines.setdefault(spot, []).append(f"{name} = {{**{name}, {_items(entries)}}}")
        found = list(self.spans)
        inserted: dict[int, str] = {}
        for spot, texts in lines.items():
            after, before = (None, spot.statement) if spot.before else (spot.statement, None)
            edit = insert_lines(module.source, after, before, texts)
            if edit is None:
                raise refuse("unknown_construct", spot.statement, construct="a line of several statements")
            inserted[edit.start] = inserted.get(edit.start, "") + edit.replacement
        found += [Edit(at, at, text) for at, text in inserted.items()]
        for operand, entries in self.inline.items():
            start, end = module.source.span(operand)
            found.append(Edit(start, end, f"{{**{module.source.segment(operand)}, {_items(entries)}}}"))
        for call, keywords in self.keywords.items():
            found += insert_arguments(module.source, call, [f"{name}={text}" for name, text in keywords.items()])
        return sorted(set(found))


def _items(entries: dict[str, str]) -> str:
    return ", ".join(f'"{key}": {text}' for key, text in entries.items())


def merged(parts: Iterable[Changes]) -> Changes:
    """All changes together; equal ones count once."""
    whole = Changes()
    for part in parts:
        whole.spans += [e for e in part.spans if e not in whole.spans]
        for spot, texts in part.lines.items():
            for text in texts:
                whole.add_line(spot, text)
        for (spot, name), entries in part.entries.items():
            whole.entries.setdefault((spot, name), {}).update(entries)
        for operand, entries in part.inline.items():
            whole.inline.setdefault(operand, {}).update(entries)
        for call, keywords in part.keywords.items():
            whole.keywords.setdefault(call, {}).update(keywords)
    return whole
