"""A function as a list of statements, and the statements that differ between two versions of it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from .canonical import same_value
from .host_facts import host_facts
from .model import StatementEdit
from .tokens import tokens_of

_NAME = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*")
_NUMBER_FACT = re.compile(r"^(cap|tile|option):(\w+)=(\w+)$")
MAX_STATEMENTS = 2500
"""Longer functions are compared as a whole only."""


@dataclass(frozen=True, eq=False)
class Statement:
    """One statement, the head of a compound one, a decorator, or a parameter."""

    text: str
    node: ast.AST
    kernel: bool

    @cached_property
    def tokens(self) -> Counter[str]:
        return tokens_of(self.node, kernel=self.kernel)

    @cached_property
    def facts(self) -> set[str]:
        return host_facts(list(ast.walk(self.node))) if not self.kernel else set()


def statements_of(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module, *, kernel: bool) -> list[Statement]:
    """Decorators, parameters and statements of a canonical function, in order; compound statements by their heads."""
    if isinstance(function, ast.Module):
        return list(_body(function.body, kernel))
    found = [Statement(f"@{ast.unparse(d)}", d, kernel) for d in function.decorator_list]
    a = function.args
    plain = [*a.posonlyargs, *a.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(a.defaults)) + list(a.defaults)
    for argument, default in zip([*plain, *a.kwonlyargs], [*defaults, *a.kw_defaults], strict=True):
        text = ast.unparse(argument) + (f"={ast.unparse(default)}" if default is not None else "")
        found.append(Statement(f"param {text}", argument, kernel))
    found.extend(_body(function.body, kernel))
    return found


def _body(body: list[ast.stmt], kernel: bool) -> Iterator[Statement]:
    for node in body:
        match node:
            case ast.If(test=test, body=inner, orelse=orelse):
                yield Statement(f"if {ast.unparse(test)}:", test, kernel)
                yield from _body(inner, kernel)
                if orelse:
                    if not (len(orelse) == 1 and isinstance(orelse[0], ast.If)):
                        yield Statement("else:", ast.Pass(), kernel)
                    yield from _body(orelse, kernel)
            case ast.For(target=target, iter=iterated, body=inner):
                yield Statement(f"for {ast.unparse(target)} in {ast.unparse(iterated)}:", iterated, kernel)
                yield from _body(inner, kernel)
            case ast.While(test=test, body=inner):
                yield Statement(f"while {ast.unparse(test)}:", test, kernel)
                yield from _body(inner, kernel)
            case ast.With(items=items, body=inner):
                yield Statement(f"with {', '.join(ast.unparse(i) for i in items)}:", ast.Pass(), kernel)
                yield from _body(inner, kernel)
            case ast.FunctionDef(name=name, args=arguments, body=inner):
                yield Statement(f"def {name}({ast.unparse(arguments)}):", ast.Pass(), kernel)
                yield from _body(inner, kernel)
            case ast.Try(body=inner, handlers=handlers, orelse=orelse, finalbody=final):
                yield from _body([*inner, *(s for h in handlers for s in h.body), *orelse, *final], kernel)
            case ast.Pass():
                pass
            case _:
                yield Statement(ast.unparse(node), node, kernel)


def changed_statements(old: list[Statement], new: list[Statement]) -> tuple[StatementEdit, ...]:
    """Statements that differ. Renamed variables do not make a difference."""
    if max(len(old), len(new)) > MAX_STATEMENTS:
        return ()
    renamed = _renames([s.text for s in old], [s.text for s in new])
    texts = [_rename(s.text, renamed) for s in old]
    edits: list[StatementEdit] = []
    for tag, i, j, k, m in SequenceMatcher(None, texts, [s.text for s in new], autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for left, right in _aligned(list(range(i, j)), list(range(k, m)), texts, new):
            before = (texts[left], old[left]) if left is not None else None
            after = new[right] if right is not None else None
            if before is None or after is None or not same_value(before[0], after.text):
                edits.append(_edit(before, after))
    return tuple(edits)


def _edit(before: tuple[str, Statement] | None, after: Statement | None) -> StatementEdit:
    had = before[1].tokens if before else Counter[str]()
    has = after.tokens if after else Counter[str]()
    removed, added = sorted((had - has).elements()), sorted((has - had).elements())
    if before and after:
        lost, gained = before[1].facts - after.facts, after.facts - before[1].facts
        moved = numbers_moved(lost, gained)
        added = sorted([*added, *moved])
    return StatementEdit(
        before=before[0] if before else None,
        after=after.text if after else None,
        removed=tuple(removed),
        added=tuple(added),
    )


def numbers_moved(lost: set[str], gained: set[str]) -> list[str]:
    """`cap_raised`, `tile_lowered`, `option_raised:num_warps` and so on, for numbers that changed; sorted."""
    before = {m[1] + ":" + m[2]: m[3] for f in lost if (m := _NUMBER_FACT.match(f))}
    after = {m[1] + ":" + m[2]: m[3] for f in gained if (m := _NUMBER_FACT.match(f))}
    found = set()
    for key in before.keys() & after.keys():
        kind, _, name = key.partition(":")
        label = kind if kind != "option" else f"option:{name}"
        old, new = _number(before[key]), _number(after[key])
        if old is not None and new is not None and old != new:
            found.add(f"{label}_{'raised' if new > old else 'lowered'}")
    return sorted(found)


def _number(text: str) -> float | None:
    if text == "none":
        return float("inf")  # a cap that is no more
    try:
        return float(text)
    except ValueError:
        return None


def _renames(old: list[str], new: list[str]) -> dict[str, str]:
    """Old names that the new version spells otherwise, found from statements that differ in nothing else."""
    votes: Counter[tuple[str, str]] = Counter()
    abstract_old, abstract_new = [_blank(t) for t in old], [_blank(t) for t in new]
    for i, j, size in SequenceMatcher(None, abstract_old, abstract_new, autojunk=False).get_matching_blocks():
        for left, right in zip(old[i : i + size], new[j : j + size], strict=True):
            if left != right:
                votes.update({(a, b) for a, b in zip(_NAME.findall(left), _NAME.findall(right), strict=True) if a != b})
    had = {n for t in old for n in _NAME.findall(t)}
    has = {n for t in new for n in _NAME.findall(t)}
    result: dict[str, str] = {}
    for (a, b), _ in sorted(votes.items(), key=lambda v: (-v[1], v[0])):
        if a not in has and b not in had and a not in result and b not in result.values():
            result[a] = b
    return result


def _blank(text: str) -> str:
    return _NAME.sub("_", text)


def _rename(text: str, names: dict[str, str]) -> str:
    return _NAME.sub(lambda m: names.get(m[0], m[0]), text) if names else text


def _aligned(
    left: list[int], right: list[int], old: list[str], new: list[Statement]
) -> Iterator[tuple[int | None, int | None]]:
    """Pairs of statements of one changed stretch, the most alike first, in order; the rest stand alone."""
    if len(left) * len(right) > 4000:
        yield from ((i, None) for i in left)
        yield from ((None, j) for j in right)
        return
    if left and right:
        scored = ((_likeness(old[i], new[j].text), i, j) for i in left for j in right)
        score, i, j = max(scored, key=lambda s: (s[0], -abs((s[1] - left[0]) - (s[2] - right[0]))))
        if score >= 0.5:
            a, b = left.index(i), right.index(j)
            yield from _aligned(left[:a], right[:b], old, new)
            yield i, j
            yield from _aligned(left[a + 1 :], right[b + 1 :], old, new)
            return
    yield from ((i, None) for i in left)
    yield from ((None, j) for j in right)


def _likeness(one: str, other: str) -> float:
    """0 to 1 by shared words; the assigned name counts most. Decorators and parameters are alike by their names."""
    if one[0] == "@" or other[0] == "@":
        return 0.9 if one.split("(")[0] == other.split("(")[0] else 0.0
    if one.startswith("param ") or other.startswith("param "):
        return 0.9 if _parameter(one) == _parameter(other) else 0.0
    a, b = Counter(_NAME.findall(one)), Counter(_NAME.findall(other))
    total = sum(a.values()) + sum(b.values())
    shared = 2 * sum((a & b).values()) / total if total else 0.0
    same_target = "=" in one and one.split("=", 1)[0].strip() == other.split("=", 1)[0].strip()
    return min(1.0, 0.7 * shared + (0.3 if same_target else 0.0))


def _parameter(text: str) -> str:
    return re.split(r"[:=]", text, maxsplit=1)[0].strip()
