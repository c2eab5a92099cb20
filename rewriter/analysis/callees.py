"""Finding the body behind a call: a `@triton.jit` helper here or in a file beside this one, or a language function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache

from ..kernel.definition import KernelDef, Module, read_module
from ..kernel.source import read_source
from ..reasons import Refuse
from ..resolve.modules import find_import, read_text
from .operations import ELEMENTWISE

MAX_HOPS = 4
"""Re-exports followed from one file to the next."""


Lookup = tuple[str, str, str | None]
"""The file that asked, the imported name, and the file that holds it."""
_lookups: ContextVar[set[Lookup] | None] = ContextVar("lookups", default=None)


@contextmanager
def files_read() -> Iterator[set[Lookup]]:
    """Collects what is looked up in other files within: whoever keeps a result must ask them again when they change."""
    found: set[Lookup] = set()
    token = _lookups.set(found)
    try:
        yield found
    finally:
        _lookups.reset(token)


@dataclass(frozen=True, slots=True)
class Callee:
    """What a call reaches: a language function by name, or every definition the name may stand for."""

    triton: str | None = None
    definitions: tuple[tuple[Module, KernelDef], ...] = ()


def find_callee(module: Module, function: ast.expr) -> Callee | None:
    """What `function` stands for in `module`; None where its source is not found."""
    name = module.names.triton_name(function)
    if name is not None:
        return Callee(triton=name)
    dotted = module.names.dotted(function)
    if dotted in ("triton.cdiv", "triton.next_power_of_2"):
        return Callee(triton=dotted.removeprefix("triton."))
    if isinstance(function, ast.Name):
        return _by_name(module, function.id, 0)
    return _by_dotted(module, module.names.dotted(function), 0)


def _by_name(module: Module, name: str, hops: int) -> Callee | None:
    kernels = module.kernels_named(name)
    if kernels:
        alias = module.names.imported.get(name)
        triton = alias.removeprefix("triton.language.") if alias and alias.startswith("triton.language.") else None
        found = [Callee(triton=triton, definitions=tuple((module, k) for k in kernels))]
        # A value that the name is given beside its definition may be what is called.
        for value in module.names.constants.get(name, ()):
            other = _alias(module, value, hops)
            if other is None:
                return None
            found.append(other)
        return merge(found)
    aliased = [_alias(module, value, hops) for value in module.names.constants.get(name, ())]
    known = [a for a in aliased if a is not None]
    if known and len(known) == len(aliased):
        return merge(known)
    if aliased and name not in module.names.imported:
        return None
    return _by_dotted(module, module.names.imported.get(name), hops)


def _alias(module: Module, value: ast.expr, hops: int) -> Callee | None:
    if hops >= MAX_HOPS:
        return None
    triton = module.names.triton_name(value)
    if triton is not None:
        return Callee(triton=triton)
    if isinstance(value, ast.Name):
        return _by_name(module, value.id, hops + 1)
    if isinstance(value, ast.Attribute):
        return _by_dotted(module, module.names.dotted(value), hops + 1)
    return None


def _by_dotted(module: Module, dotted: str | None, hops: int) -> Callee | None:
    if dotted is None or hops >= MAX_HOPS:
        return None
    if dotted.startswith("triton.language."):
        return Callee(triton=dotted.removeprefix("triton.language."))
    if dotted.startswith("triton."):
        return None
    place = find_import(module.source.path, dotted)
    noted = _lookups.get()
    if noted is not None:
        noted.add((module.source.path, dotted, str(place[0]) if place is not None else None))
    if place is None:
        return None
    other = module_at(str(place[0]))
    return None if other is None else _by_name(other, place[1], hops + 1)


def merge(callees: list[Callee]) -> Callee | None:
    """One callee for a name that a branch chooses: all must be known; a language function wins the name."""
    names = {c.triton for c in callees if c.triton}
    definitions = tuple(dict.fromkeys(d for c in callees for d in c.definitions))
    if len(names) > 1:
        # A fast variant beside the plain function: any of them acts lane by lane.
        if not all("libdevice." in n or n in ELEMENTWISE for n in names):
            return None
        names = {min(names, key=lambda n: ("." in n, n))}
    return Callee(triton=names.pop() if names else None, definitions=definitions)


@lru_cache(maxsize=256)
def module_at(path: str) -> Module | None:
    """The module in a helper's file, read once; None where it cannot be read or parsed."""
    from pathlib import Path

    text = read_text(Path(path))
    if text is None:
        return None
    try:
        return read_module(read_source(text, path))
    except Refuse:
        return None
