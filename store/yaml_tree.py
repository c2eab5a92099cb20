"""YAML as plain data together with the line of every field. Nothing in a file is ever executed.

Only what a record needs is accepted: one document, at most `MAX_BYTES`, no anchors or aliases (a few lines of them
can expand to gigabytes), no tags beyond YAML's own scalars, no duplicate keys, bounded nesting.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .errors import RecordError

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32

FieldPath = tuple[str | int, ...]

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPENING = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSING = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed document: its data, and the 1-based line at which each field (by its path) begins."""

    data: Any
    lines: dict[FieldPath, int]

    def line(self, path: FieldPath) -> int | None:
        """The line of the deepest part of `path` that the file holds."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


def read_tree(path: Path) -> Tree:
    """Parse a YAML file. Raises RecordError with the line at fault."""
    text = _read_text(path)
    try:
        _check_events(path, text)
        return _construct(path, text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise RecordError(path, mark.line + 1 if mark else None, None, f"no valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise RecordError(path, None, None, f"no valid YAML: {error}") from error


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RecordError(path, None, None, f"cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise RecordError(path, None, None, f"is larger than {MAX_BYTES // 1024} KiB, the most a record may be")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(path, data[: error.start].count(b"\n") + 1, None, "is not UTF-8 text") from error


def _check_events(path: Path, text: str) -> None:
    """Refuse what must not even be composed: aliases, anchors, deep nesting, a second document."""
    depth = documents = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise RecordError(path, line, None, "YAML anchors and aliases are not allowed in a record")
        depth += isinstance(event, _OPENING) - isinstance(event, _CLOSING)
        if depth > MAX_DEPTH:
            raise RecordError(path, line, None, f"is nested deeper than {MAX_DEPTH} levels")
        documents += isinstance(event, yaml.DocumentStartEvent)
        if documents > 1:
            raise RecordError(path, line, None, "holds more than one YAML document")
    if not documents:
        raise RecordError(path, 1, None, "is empty")


def _construct(path: Path, text: str) -> Tree:
    loader = _Loader(text)
    try:
        lines: dict[FieldPath, int] = {}
        return Tree(_value(path, loader, loader.get_single_node(), (), lines), lines)
    finally:
        loader.dispose()


def _value(path: Path, loader: Any, node: yaml.Node, at: FieldPath, lines: dict[FieldPath, int]) -> Any:
    lines.setdefault(at, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        _plain_tag(path, node, "map", at)
        return {key: _value(path, loader, value, (*at, key), lines) for key, value in _pairs(path, node, at, lines)}
    if isinstance(node, yaml.SequenceNode):
        _plain_tag(path, node, "seq", at)
        return [_value(path, loader, item, (*at, index), lines) for index, item in enumerate(node.value)]
    try:
        return loader.construct_object(node)
    except ValueError as error:
        raise RecordError(path, node.start_mark.line + 1, dotted(at), f"cannot be read as a value: {error}") from error


def _plain_tag(path: Path, node: yaml.Node, kind: str, at: FieldPath) -> None:
    if node.tag != f"tag:yaml.org,2002:{kind}":
        raise RecordError(path, node.start_mark.line + 1, dotted(at), f"the tag {node.tag} is not allowed")


def _pairs(path: Path, node: yaml.MappingNode, at: FieldPath,
           lines: dict[FieldPath, int]) -> Iterator[tuple[str, yaml.Node]]:
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.tag != "tag:yaml.org,2002:str":
            raise RecordError(path, line, dotted(at), f"the key {getattr(key, 'value', '')!r} is not a plain name")
        if (*at, key.value) in lines:
            raise RecordError(path, line, dotted((*at, key.value)),
                              f"is given twice; first at line {lines[(*at, key.value)]}")
        lines[(*at, key.value)] = line
        yield key.value, value


def dotted(path: FieldPath) -> str | None:
    """A path as users read it: `evidence[0].ratio`. None for the document itself."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or None
