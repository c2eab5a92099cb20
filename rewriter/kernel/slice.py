"""A slice of a module: the statements that given names need, at their own lines, and nothing else.

Names are followed through the module's functions, classes, decorators, constants and imports. A statement is kept
whole or left out; lines that are left out are blank, so that every line keeps its number and a kernel's source, its
tracebacks and its findings are those of the file. Code that only has effects is not kept, except where it changes a
name that is kept (`TABLE[key] = value`). Plain text and `ast`: nothing is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .slice_names import names_bound, names_changed, names_read
from .source import SourceFile, read_source


@dataclass(frozen=True, slots=True)
class Request:
    """An import that a slice holds: what must be there for it to run."""

    module: str
    """Absolute dotted name."""
    name: str | None
    """The name taken from it; None where the module itself is imported."""
    line: int
    attributes: frozenset[str]
    """What is read of the name or module as `name.attribute`; all that is needed of it where it is a module."""
    required: bool
    """False inside a function or a `try`: the import may fail there without harm."""


@dataclass(frozen=True)
class ModuleSlice:
    """The sliced text, what it imports, and which of the wanted names the module does not have."""

    text: str
    requests: tuple[Request, ...]
    missing: tuple[tuple[str, int], ...]
    """Names that nothing in the module binds, with a line that reads each (0 where it was asked for from outside)."""
    standins: tuple[str, ...] = ()
    """Names that a stand-in binds."""


StarSource = Callable[[str, str], bool]
"""Whether `from module import *` brings a name: `(module, name) -> bool`."""


class SourceSlicer:
    """Slices of one module, for whatever names are asked for."""

    def __init__(
        self,
        text: str,
        path: str,
        module: str,
        is_package: bool = False,
        standins: Mapping[str, str] | None = None,
        star: StarSource | None = None,
    ) -> None:
        """`standins` maps names to one line of source that binds each. Raises Refuse(`unparsable`)."""
        self.source: SourceFile = read_source(text, path)
        self.module, self.is_package = module, is_package
        self.standins = dict(standins or {})
        self._star = star or (lambda module, name: False)
        self._body = self.source.tree.body
        self._future = any(
            _is_future(s) and any(a.name == "annotations" for a in s.names)  # type: ignore[attr-defined]
            for s in self._body
        )
        self._bound = [names_bound(s) for s in self._body]
        self._changed = [names_changed(s) for s in self._body]
        self._read: dict[int, set[str]] = {}
        self._declared = {name for n in ast.walk(self.source.tree) if isinstance(n, ast.Global) for name in n.names}

    def binds(self, name: str) -> bool:
        """True where a module-level statement, or a stand-in, binds the name."""
        return name in self.standins or any(name in bound for bound in self._bound)

    @property
    def stars(self) -> tuple[str, ...]:
        """Modules of `from module import *`."""
        return tuple(self._absolute(s) for s in self._body if _is_star(s) and isinstance(s, ast.ImportFrom))

    def everything(self) -> set[str]:
        """Every name the module binds."""
        return set().union(*self._bound)

    def slice(self, names: Iterable[str]) -> ModuleSlice:
        """The slice for `names`."""
        needed: dict[str, int] = dict.fromkeys(names, 0)
        kept: set[int] = set()
        waiting = list(needed)
        starred: dict[int, list[str]] = {}
        missing: dict[str, int] = {}
        used: list[str] = []
        while waiting:
            name = waiting.pop()
            if name in self.standins:
                used.append(name)
                continue
            places = [i for i, bound in enumerate(self._bound) if name in bound]
            if not places:
                star = self._star_of(name)
                if star is not None:
                    starred.setdefault(star, []).append(name)
                elif name not in self._declared:
                    missing[name] = needed[name]
                continue
            own = any(not isinstance(self._body[i], ast.Import | ast.ImportFrom) for i in places)
            places += [i for i, changed in enumerate(self._changed) if own and name in changed]
            for index in (i for i in places if i not in kept):
                kept.add(index)
                for read in sorted(self._reads(index)):
                    if read not in needed:
                        needed[read] = self._body[index].lineno
                        waiting.append(read)
        text = self._render(kept, set(needed) - set(used), starred, sorted(used))
        requests = [r for i in sorted(kept) for r in self._requests(i, set(needed), kept)]
        requests += [
            Request(self._absolute(self._body[i]), name, self._body[i].lineno, frozenset(), True)  # type: ignore[arg-type]
            for i, found in starred.items()
            for name in sorted(found)
        ]
        return ModuleSlice(text, tuple(requests), tuple(sorted(missing.items())), tuple(sorted(used)))

    def _reads(self, index: int) -> set[str]:
        statement = self._body[index]
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return set()
        if index not in self._read:
            self._read[index] = names_read(statement, not self._future)
        return self._read[index]

    def _star_of(self, name: str) -> int | None:
        for index, statement in enumerate(self._body):
            if _is_star(statement) and isinstance(statement, ast.ImportFrom):
                if self._star(self._absolute(statement), name):
                    return index
        return None

    # -- what is imported ------------------------------------------------------------------------------------------

    def _requests(self, index: int, needed: set[str], kept: set[int]) -> list[Request]:
        statement = self._body[index]
        found: list[Request] = []
        top = isinstance(statement, ast.Import | ast.ImportFrom)
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom) and not _is_future(node):
                readers = [self._body[i] for i in kept] if top else [statement]
                for alias in node.names:
                    bound = alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name)
                    if not top or bound in needed:
                        found.append(self._request(node, alias, bound, readers, top))
        return found

    def _request(
        self, node: ast.Import | ast.ImportFrom, alias: ast.alias, bound: str, readers: list[ast.stmt], required: bool
    ) -> Request:
        if isinstance(node, ast.ImportFrom):
            return Request(self._absolute(node), alias.name, node.lineno, _attributes(readers, (bound,)), required)
        chain = (bound,) if alias.asname else tuple(alias.name.split("."))
        return Request(alias.name, None, node.lineno, _attributes(readers, chain), required)

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.module.split(".")
        base = parts[: len(parts) - node.level + (1 if self.is_package else 0)]
        return ".".join([*base, *(node.module.split(".") if node.module else [])])

    # -- the text --------------------------------------------------------------------------------------------------

    def _render(self, kept: set[int], needed: set[str], starred: dict[int, list[str]], standins: list[str]) -> str:
        lines = [""] * len(self.source.lines)
        futures = {i for i, s in enumerate(self._body) if _is_future(s)}
        for index in self._with_neighbours(kept | futures):
            statement = self._body[index]
            first, last = _first_line(statement), statement.end_lineno or statement.lineno
            if isinstance(statement, ast.Import | ast.ImportFrom) and index not in futures and self._alone(index):
                lines[first - 1] = _trimmed(statement, needed)
            else:
                lines[first - 1 : last] = [line.rstrip("\r\n") for line in self.source.lines[first - 1 : last]]
        for index, names in starred.items():
            statement = self._body[index]
            assert isinstance(statement, ast.ImportFrom)
            lines[statement.lineno - 1] = (
                f"from {'.' * statement.level}{statement.module or ''} import {', '.join(sorted(names))}"
            )
        extra: list[str] = []
        for name in standins:
            place = next((s for s, bound in zip(self._body, self._bound, strict=True) if name in bound), None)
            at = _first_line(place) - 1 if place is not None else -1
            if at >= 0 and not lines[at]:
                lines[at] = self.standins[name]
            else:
                extra.append(self.standins[name])
        return "\n".join([*lines, *extra]) + "\n"

    def _with_neighbours(self, kept: set[int]) -> list[int]:
        """With every statement that shares a line with a kept one: a line is kept whole."""
        rows = {row for i in kept for row in (_first_line(self._body[i]), self._body[i].end_lineno)}
        return [i for i, s in enumerate(self._body) if i in kept or {_first_line(s), s.end_lineno} & rows]

    def _alone(self, index: int) -> bool:
        statement = self._body[index]
        rows = {_first_line(statement), statement.end_lineno}
        return not any(rows & {_first_line(s), s.end_lineno} for i, s in enumerate(self._body) if i != index)


def _trimmed(statement: ast.Import | ast.ImportFrom, needed: set[str]) -> str:
    """The import with only the names that are needed, on one line."""
    whole = isinstance(statement, ast.Import)
    aliases = [a for a in statement.names if (a.asname or (a.name.split(".")[0] if whole else a.name)) in needed]
    names = ", ".join(f"{a.name} as {a.asname}" if a.asname else a.name for a in aliases)
    if isinstance(statement, ast.Import):
        return f"import {names}"
    return f"from {'.' * statement.level}{statement.module or ''} import {names}"


def _attributes(readers: list[ast.stmt], chain: tuple[str, ...]) -> frozenset[str]:
    """What is read behind `a.b.c`: the next attribute of every such chain."""
    found = set()
    for reader in readers:
        for node in ast.walk(reader):
            if isinstance(node, ast.Attribute):
                parts = ast.unparse(node.value).split(".") if isinstance(node.value, ast.Attribute | ast.Name) else []
                if tuple(parts) == chain:
                    found.add(node.attr)
    return frozenset(found)


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)])


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _is_star(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"
