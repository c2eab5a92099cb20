"""Slices of the modules of a package that one module's names need, followed from file to file.

The target's own text may be any version of it; the other modules are read from the package's folder or archive. The
result holds sources only. Whoever runs them puts each under its own module name; the package itself is never imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ..reasons import Refuse, refusal, refuse_all
from ..resolve.archives import is_file, is_folder, read_file
from .slice import ModuleSlice, Request, SourceSlicer
from .standins import standins_of

MAX_MODULES = 200
"""More modules than this are a whole package, not a slice."""


@dataclass(frozen=True, slots=True)
class SlicedModule:
    """One module of a package: its slice under its own name. A package's own `__init__` is one, often empty."""

    module: str
    path: str
    """Relative to the package's root, with `/`."""
    text: str
    is_package: bool


@dataclass(frozen=True)
class PackageSlice:
    """Every module that the target's names need, the target itself first, and the roots outside that they import."""

    modules: tuple[SlicedModule, ...]
    outside: tuple[tuple[str, str, int], ...]
    """Imports from elsewhere that must succeed: (dotted module, file, line)."""
    standins: tuple[str, ...]
    """Dotted names that stand-ins bind."""


@dataclass
class _Walk:
    root: Path
    slicers: dict[str, SourceSlicer | None] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    needs: dict[str, set[str]] = field(default_factory=dict)
    done: dict[str, tuple[frozenset[str], ModuleSlice]] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    """Modules that must run; the others are reached by imports that may fail."""

    def slicer(self, module: str) -> SourceSlicer | None:
        """The module's slicer; None where the package has no such module."""
        if module not in self.slicers:
            self.slicers[module] = self._open(module)
        return self.slicers[module]

    def open(self, module: str) -> SourceSlicer:
        """The slicer of a module that is there."""
        slicer = self.slicer(module)
        assert slicer is not None
        return slicer

    def has(self, module: str, name: str) -> bool:
        """True where `from module import name` finds a name of the module itself, also through `*`."""
        slicer = self.slicer(module)
        return slicer is not None and (slicer.binds(name) or any(self.brings(star, name) for star in slicer.stars))

    def add_text(self, module: str, path: str, text: str, is_package: bool) -> SourceSlicer:
        self.paths[module] = path
        slicer = SourceSlicer(text, path, module, is_package, standins_of(module), self.brings)
        self.slicers[module] = slicer
        return slicer

    def brings(self, module: str, name: str) -> bool:
        """True where `from module import *` would bring the name."""
        slicer = self.slicer(module)
        if slicer is None or name.startswith("_"):
            return False
        return slicer.binds(name) or any(self.brings(star, name) for star in slicer.stars)

    def inside(self, module: str) -> bool:
        """True for modules of the package that is sliced."""
        return self.slicer(module.split(".")[0]) is not None

    def _open(self, module: str) -> SourceSlicer | None:
        base = module.replace(".", "/")
        for path, is_package in ((f"{base}/__init__.py", True), (f"{base}.py", False)):
            if is_file(self.root / path):
                text = read_file(self.root / path)
                if text is not None:
                    return self.add_text(module, path, text, is_package)
        if is_folder(self.root / base):
            return self.add_text(module, f"{base}/__init__.py", "", True)
        return None


@lru_cache(maxsize=8)
def slice_package(root: Path, module: str, path: str, text: str, names: tuple[str, ...]) -> PackageSlice:
    """The slices that `names` of `module` need. `root` is the folder or archive that holds the package; `text` is the
    target's own, original or rewritten, and `path` its file relative to `root`.

    Raises Refuse: `unparsable`, `slice_unresolved` for every name that cannot be found, `slice_too_large`.
    """
    walk = _Walk(root)
    walk.add_text(module, path, text, path.endswith("/__init__.py"))
    _walk_all(walk, module, names)
    _raise_unresolved(walk, module)
    _add_parents(walk)
    order = [module, *sorted(m for m in walk.done if m != module)]
    modules = tuple(SlicedModule(m, walk.paths[m], walk.done[m][1].text, walk.open(m).is_package) for m in order)
    outside = {
        r.module: (r.module, walk.paths[m], r.line)
        for m in order
        if m in walk.required
        for r in walk.done[m][1].requests
        if r.required and not walk.inside(r.module)
    }
    used = tuple(sorted(f"{m}.{name}" for m in order for name in walk.done[m][1].standins))
    return PackageSlice(modules, tuple(sorted(outside.values())), used)


def _walk_all(walk: _Walk, module: str, names: Iterable[str]) -> None:
    """Slices module after module until none needs more. Raises Refuse(`slice_too_large`)."""
    walk.needs[module], walk.required = set(names), {module}
    pending = [module]
    while pending:
        current = pending.pop()
        wanted = frozenset(walk.needs[current])
        if current not in walk.done or walk.done[current][0] != wanted:
            walk.done[current] = (wanted, walk.open(current).slice(wanted))
        for request in walk.done[current][1].requests:
            pending += _follow(walk, request, request.required and current in walk.required)
        if len(walk.done) > MAX_MODULES:
            raise Refuse(refusal("slice_too_large", 1, module=module, count=MAX_MODULES))


def _follow(walk: _Walk, request: Request, required: bool) -> list[str]:
    """Notes what an import needs; the modules whose needs grew."""
    if not walk.inside(request.module):
        return []
    if request.name is None:
        return _need(walk, request.module, request.attributes, required)
    if walk.has(request.module, request.name):
        return _need(walk, request.module, {request.name}, required)
    inner = f"{request.module}.{request.name}"
    if walk.slicer(inner) is not None:
        return _need(walk, request.module, (), required) + _need(walk, inner, request.attributes, required)
    return _need(walk, request.module, {"__getattr__"}, required)


def _need(walk: _Walk, module: str, names: Iterable[str], required: bool) -> list[str]:
    if walk.slicer(module) is None:
        return []
    known = walk.needs.setdefault(module, set())
    # An attribute of a module that is no name of it is a submodule, which its own import brings.
    new = {n for n in names if walk.has(module, n)} - known
    known |= new
    grown = bool(new) or module not in walk.done or (required and module not in walk.required)
    if required:
        walk.required.add(module)
    return [module] if grown else []


def _raise_unresolved(walk: _Walk, target: str) -> None:
    """Raises Refuse with every name of a required module that is not found."""
    found = []
    for module in sorted(walk.required & walk.done.keys(), key=lambda m: (m != target, m)):
        path, sliced = walk.paths[module], walk.done[module][1]
        found += [
            refusal("slice_unresolved", line or 1, name=n, module=module, file=path) for n, line in sliced.missing
        ]
        for r in sliced.requests:
            if r.required and walk.inside(r.module) and not _resolves(walk, r):
                name = r.name or r.module
                found.append(refusal("slice_unresolved", r.line, name=f"{r.module}.{name}", module=module, file=path))
    refuse_all(found)


def _resolves(walk: _Walk, request: Request) -> bool:
    if walk.slicer(request.module) is None:
        return False
    return (
        request.name is None
        or walk.has(request.module, request.name)
        or walk.has(request.module, "__getattr__")
        or walk.slicer(f"{request.module}.{request.name}") is not None
    )


def _add_parents(walk: _Walk) -> None:
    """Every package above a module, empty where nothing of it is needed."""
    for parent in {".".join(m.split(".")[:n]) for m in list(walk.done) for n in range(1, m.count(".") + 1)}:
        if parent not in walk.done and walk.slicer(parent) is not None:
            walk.done[parent] = (frozenset(), walk.open(parent).slice(()))
