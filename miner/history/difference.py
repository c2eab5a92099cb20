"""What one commit did to one file: its functions paired, and the ones that changed in more than looks."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from .cuda import SUFFIXES as CUDA_SUFFIXES
from .cuda import cuda_edit
from .functions import Function, functions_of
from .model import FileEdit, FunctionEdit
from .paths import is_test
from .statements import changed_statements, numbers_moved

MAX_BYTES = 2_000_000
"""Larger files are not source code that somebody wrote."""


def is_source(path: str) -> bool:
    """True for files that may hold kernels or launch them; tests and benchmarks are nobody's optimization."""
    return path.endswith((".py", *CUDA_SUFFIXES)) and not is_test(path)


def file_edit(path: str, old: bytes | None, new: bytes | None) -> FileEdit:
    """The edits of one file. Never raises: what cannot be read is said in the note."""
    if max(len(old or b""), len(new or b"")) > MAX_BYTES:
        return FileEdit(note="too large to be source code")
    before, after = _text(old), _text(new)
    if path.endswith(CUDA_SUFFIXES):
        edit = cuda_edit(before, after)
        return FileEdit(functions=(edit,) if edit is not None else ())
    if not (_has_kernels(before) or _has_kernels(after)):
        return FileEdit()
    notes = []
    sides: list[dict[str, Function]] = []
    for text in (before, after):
        try:
            sides.append(_functions(text) if text is not None else {})
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            sides.append({})
            notes.append(f"no Python: {type(error).__name__}")
    if notes:
        return FileEdit(note=notes[0])
    try:
        return FileEdit(functions=tuple(_edits(*sides)))
    except (RecursionError, MemoryError) as error:
        return FileEdit(note=f"too deep to compare: {type(error).__name__}")


def _text(content: bytes | None) -> str | None:
    return content.decode("utf-8", "replace") if content is not None else None


def _has_kernels(text: str | None) -> bool:
    return text is not None and "triton" in text


@lru_cache(maxsize=48)
def _functions(text: str) -> dict[str, Function]:
    return functions_of(text)


def _edits(old: dict[str, Function], new: dict[str, Function]) -> list[FunctionEdit]:
    found: list[FunctionEdit] = []
    gone = {n: f for n, f in old.items() if n not in new}
    come = {n: f for n, f in new.items() if n not in old}
    for name, function in new.items():
        if name in old and old[name].text != function.text:
            found += _changed(old[name], function)
    for before, after in _renamed(gone, come):
        del gone[before.name], come[after.name]
        found += _changed(before, after)
    found += [_one_sided(f, dropped=False) for f in come.values()]
    found += [_one_sided(f, dropped=True) for f in gone.values()]
    return found


def _renamed(gone: dict[str, Function], come: dict[str, Function]) -> list[tuple[Function, Function]]:
    """Functions that were given another name: the same shape, or mostly the same statements."""
    pairs: list[tuple[Function, Function]] = []
    if len(gone) * len(come) > 400:
        return pairs
    words = {f: Counter(f.text.split()) for f in [*gone.values(), *come.values()]}
    scored = sorted(
        ((_overlap(words[a], words[b]), a, b) for a in gone.values() for b in come.values() if a.kind == b.kind),
        key=lambda s: (-s[0], s[1].name, s[2].name),
    )
    used: set[Function] = set()
    for score, a, b in scored:
        if a not in used and b not in used and score >= 0.75:
            used |= {a, b}
            pairs.append((a, b))
    return pairs


def _overlap(a: Counter[str], b: Counter[str]) -> float:
    total = sum(a.values()) + sum(b.values())
    return 2 * sum((a & b).values()) / total if total else 0.0


def _changed(old: Function, new: Function) -> list[FunctionEdit]:
    if old.shape == new.shape:
        return []
    lost, gained = old.facts - new.facts, new.facts - old.facts
    return [
        FunctionEdit(
            name=new.name,
            kind=new.kind,
            before=old.shape,
            after=new.shape,
            parameters_added=tuple(p for p in new.parameters if p not in old.parameters),
            parameters_removed=tuple(p for p in old.parameters if p not in new.parameters),
            removed=dict(sorted((old.tokens - new.tokens).items())),
            added=dict(sorted((new.tokens - old.tokens).items())),
            lost=tuple(sorted(lost)),
            gained=tuple(sorted(gained | set(numbers_moved(lost, gained)))),
            statements=changed_statements(old.statements, new.statements),
        )
    ]


def _one_sided(function: Function, *, dropped: bool) -> FunctionEdit:
    tokens, facts = dict(sorted(function.tokens.items())), tuple(sorted(function.facts))
    return FunctionEdit(
        name=function.name,
        kind=function.kind,
        before=function.shape if dropped else None,
        after=None if dropped else function.shape,
        removed=tokens if dropped else {},
        added={} if dropped else tokens,
        lost=facts if dropped else (),
        gained=() if dropped else facts,
        parameters=function.parameters,
    )
