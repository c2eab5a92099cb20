"""Which definition of a name reaches a place in host code.

Flow-sensitive inside a function (branches, loops, early exits), flow-insensitive across closures and the module.
What cannot be followed is kept as a binding of kind "other", so that nobody takes it for a value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from .source import SourceFile

Function = ast.FunctionDef | ast.AsyncFunctionDef
BindingKind = Literal["assign", "unpack", "augmented", "parameter", "loop", "import", "definition", "other"]

_EXITS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Binding:
    """One place that gives a name its value."""

    name: str
    kind: BindingKind
    node: ast.AST
    """The target, argument, alias or definition."""
    statement: ast.stmt | None
    """The statement that binds; None for a parameter or a comprehension."""
    value: ast.expr | None = None
    """assign: the value, element-wise where tuples face each other; unpack: the whole right side;
    augmented: the right side; parameter: its default."""

    @property
    def line(self) -> int:
        return int(getattr(self.node, "lineno", 0))


def enclosing_function(source: SourceFile, node: ast.AST) -> Function | None:
    """The innermost function whose body holds the node, lambdas not counted."""
    child, parent = node, source.parents.get(node)
    while parent is not None:
        if isinstance(parent, Function) and child in parent.body:
            return parent
        child, parent = parent, source.parents.get(parent)
    return None


def statement_of(source: SourceFile, node: ast.AST) -> ast.stmt:
    """The innermost statement that holds the node, or the node itself."""
    while not isinstance(node, ast.stmt):
        node = source.parents[node]
    return node


def within(source: SourceFile, node: ast.AST, ancestor: ast.AST) -> bool:
    """True where `node` is `ancestor` or stands inside it."""
    current: ast.AST | None = node
    while current is not None:
        if current is ancestor:
            return True
        current = source.parents.get(current)
    return False


@lru_cache(maxsize=8192)
def has_other_names(binding: Binding) -> bool:
    """True for `n = m = value`: the value has another name, which nobody follows."""
    return isinstance(binding.statement, ast.Assign) and len(binding.statement.targets) > 1


def set_by(statement: ast.stmt) -> list[Binding]:
    """Every name that a statement sets."""
    names = [t.id for t in ast.walk(statement) if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store)]
    return [b for name in names for b in bindings_in([statement], name)]


def reaching(source: SourceFile, name: str, at: ast.AST, call_site: ast.AST | None = None) -> tuple[Binding, ...]:
    """Every binding of `name` whose value may be seen at node `at`; empty for builtins and unknown names.

    A nested function or lambda sees what its enclosing function has bound anywhere; with `call_site` (where it is
    called, in the same enclosing function) only what has reached that call.
    """
    asked = (name, at, call_site)
    found: tuple[Binding, ...] | None = source.reached.get(asked)
    if found is None:
        found = source.reached[asked] = _reaching(source, name, at, call_site)
    return found


def _reaching(source: SourceFile, name: str, at: ast.AST, call_site: ast.AST | None) -> tuple[Binding, ...]:
    found: list[Binding] = []
    child, parent = at, source.parents.get(at)
    closure = False
    while parent is not None:
        if isinstance(parent, _COMPREHENSIONS):
            targets = [n for g in parent.generators for n in ast.walk(g.target)]
            hit = [n for n in targets if isinstance(n, ast.Name) and n.id == name]
            if hit and child is not parent.generators[0].iter:
                return (*found, Binding(name, "loop", hit[0], None))
        elif isinstance(parent, ast.Lambda):
            parameter = _parameter(parent, name)
            if parameter is not None and child is parent.body:
                return (*found, parameter)
            if call_site is not None and not within(source, call_site, parent):
                child, parent, call_site = call_site, source.parents.get(call_site), None
                continue
            closure = True
        elif isinstance(parent, ast.ClassDef):
            if not closure and child in parent.body and _scan_before(parent.body, child, name, found):
                return tuple(dict.fromkeys(found))
            closure = True
        elif isinstance(parent, Function) and child in parent.body:
            if not _declared_outside(parent, name):
                own = tuple(_all(parent.body, name))
                parameter = _parameter(parent, name)
                if own or parameter is not None:
                    if closure:
                        found += own
                    elif _scan_before(parent.body, child, name, found):
                        return tuple(dict.fromkeys(found))
                    if parameter is not None and not (closure and _definite(parent.body, name)):
                        found.append(parameter)
                    return tuple(dict.fromkeys(found))
            found.clear()
            if _declared_outside(parent, name):
                found.append(Binding(name, "other", parent, parent))
            if call_site is not None and not within(source, call_site, parent):
                child, parent, call_site = call_site, source.parents.get(call_site), None
                continue
            closure = True
        elif isinstance(parent, ast.Module):
            if closure:
                found += _all(parent.body, name)
            else:
                _scan_before(parent.body, child, name, found)
        elif not closure and isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            if _scan_parent(parent, child, name, found):
                return tuple(dict.fromkeys(found))
        child, parent = parent, source.parents.get(parent)
    return tuple(dict.fromkeys(found))


def bindings_in(body: list[ast.stmt], name: str) -> tuple[Binding, ...]:
    """Every binding of `name` in these statements, nested blocks included, nested functions and classes not."""
    return tuple(_all(body, name))


def names_read(node: ast.AST) -> tuple[ast.Name, ...]:
    """The names that an expression or statement reads, in source order."""
    return tuple(n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def _scan_parent(parent: ast.AST, child: ast.AST, name: str, found: list[Binding]) -> bool:
    """Look through the block of `parent` that holds `child`, before it; True where the name is surely bound there."""
    for block in _blocks(parent):
        if child in block and _scan_before(block, child, name, found):
            return True
    if isinstance(parent, ast.For | ast.AsyncFor | ast.While) and child in parent.body:
        found += _all([parent], name)
        return isinstance(parent, ast.For | ast.AsyncFor) and any(_targets(parent.target, name))
    if isinstance(parent, ast.Try) and child not in parent.body:
        # A handler, `else` or `finally` sees whatever the body managed to bind.
        found += _all(parent.body, name)
    if isinstance(parent, ast.If | ast.While):
        found += _walrus(parent, name)
    if isinstance(parent, ast.With | ast.AsyncWith):
        bound = list(_own(parent, name))
        found += bound
        return bool(bound)
    return False


def _scan_before(block: list[ast.stmt], child: ast.AST, name: str, found: list[Binding]) -> bool:
    for statement in reversed(block[: block.index(child)]):  # type: ignore[arg-type]
        bound, definite, _ = _effect(statement, name)
        found += bound
        if definite:
            return True
    return False


def _effect(statement: ast.stmt, name: str) -> tuple[list[Binding], bool, bool]:
    """Bindings of the name that leave the statement, whether one surely does, and whether control never leaves it."""
    if isinstance(statement, _EXITS):
        return list(_own(statement, name)), False, True
    if isinstance(statement, ast.If):
        own = list(_own(statement, name))
        arms = [_block_effect(statement.body, name), _block_effect(statement.orelse, name)]
        leaving = [arm for arm in arms if not arm[2]]
        bound = own + [b for arm in leaving for b in arm[0]]
        return bound, bool(leaving) and all(arm[1] for arm in leaving), not leaving
    if isinstance(statement, ast.With | ast.AsyncWith):
        bound, definite, exits = _block_effect(statement.body, name)
        own = list(_own(statement, name))
        return (bound if definite else own + bound), definite or bool(own), exits
    if isinstance(statement, ast.Try):
        final = _block_effect(statement.finalbody, name)
        main = _block_effect([*statement.body, *statement.orelse], name)
        arms = [main, *(_block_effect(h.body, name) for h in statement.handlers)]
        leaving = [arm for arm in arms if not arm[2]]
        definite = final[1] or (bool(leaving) and all(arm[1] for arm in leaving))
        return list(_all([statement], name)), definite, not leaving
    if isinstance(statement, ast.For | ast.AsyncFor | ast.While | ast.Match):
        return list(_all([statement], name)), False, False
    bound = list(_own(statement, name))
    return bound, any(b.kind != "other" for b in bound), False


def _block_effect(block: list[ast.stmt], name: str) -> tuple[list[Binding], bool, bool]:
    found: list[Binding] = []
    definite = False
    exits = any(_effect(s, name)[2] for s in block)
    for statement in reversed(block):
        bound, sure, _ = _effect(statement, name)
        found += bound
        if sure:
            definite = True
            break
    return found, definite, exits


def _definite(block: list[ast.stmt], name: str) -> bool:
    return _block_effect(block, name)[1]


def _all(body: list[ast.stmt], name: str) -> Iterator[Binding]:
    for statement in body:
        yield from _own(statement, name)
        if not isinstance(statement, _SCOPES):
            for block in _blocks(statement):
                yield from _all(block, name)


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    blocks = [
        getattr(node, field)
        for field in ("body", "orelse", "finalbody")
        if isinstance(getattr(node, field, None), list)
    ]
    blocks += [h.body for h in getattr(node, "handlers", [])]
    blocks += [c.body for c in getattr(node, "cases", [])]
    return blocks


def _own(statement: ast.stmt, name: str) -> Iterator[Binding]:
    """Bindings that the statement itself makes, without its blocks."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _assigned(target, value, name, statement)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _assigned(target, value, name, statement)
        case ast.AugAssign(target=ast.Name(id=bound) as target, value=value) if bound == name:
            yield Binding(name, "augmented", target, statement, value)
        case ast.For(target=target) | ast.AsyncFor(target=target):
            for hit in _targets(target, name):
                yield Binding(name, "loop", hit, statement)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                for hit in _targets(item.optional_vars, name):
                    yield Binding(name, "unpack", hit, statement)
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                if (alias.asname or alias.name.split(".")[0]) == name:
                    yield Binding(name, "import", alias, statement)
        case ast.FunctionDef(name=bound) | ast.AsyncFunctionDef(name=bound) | ast.ClassDef(name=bound) if bound == name:
            yield Binding(name, "definition", statement, statement)
        case ast.Delete(targets=targets):
            for target in targets:
                for hit in _targets(target, name):
                    yield Binding(name, "unpack", hit, statement)
        case ast.Try(handlers=handlers):
            for handler in handlers:
                if handler.name == name:
                    yield Binding(name, "other", handler, statement)
        case ast.Match(cases=cases):
            for node in (n for c in cases for n in ast.walk(c.pattern)):
                if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name == name:
                    yield Binding(name, "other", node, statement)
        case _:
            pass
    if not isinstance(statement, _SCOPES):
        yield from _walrus(statement, name)


def _walrus(statement: ast.stmt, name: str) -> Iterator[Binding]:
    for node in _named_expressions(statement):
        if node.target.id == name:
            yield Binding(name, "other", node.target, statement)


@lru_cache(maxsize=16384)
def _named_expressions(statement: ast.stmt) -> tuple[ast.NamedExpr, ...]:
    """The `:=` of a statement, without its blocks; remembered, since every name is looked for in every statement."""
    pending: list[ast.AST] = [
        c for c in ast.iter_child_nodes(statement) if isinstance(c, ast.expr | ast.withitem | ast.keyword)
    ]
    found = []
    while pending:
        node = pending.pop()
        if isinstance(node, ast.NamedExpr):
            found.append(node)
        if not isinstance(node, ast.Lambda):
            pending += ast.iter_child_nodes(node)
    return tuple(found)


def _assigned(target: ast.expr, value: ast.expr, name: str, statement: ast.stmt) -> Iterator[Binding]:
    if isinstance(target, ast.Name):
        if target.id == name:
            yield Binding(name, "assign", target, statement, value)
        return
    if isinstance(target, ast.Tuple | ast.List):
        pairwise = (
            isinstance(value, ast.Tuple | ast.List)
            and len(value.elts) == len(target.elts)
            and not any(isinstance(e, ast.Starred) for e in (*value.elts, *target.elts))
        )
        if pairwise:
            assert isinstance(value, ast.Tuple | ast.List)
            for part, element in zip(target.elts, value.elts, strict=True):
                yield from _assigned(part, element, name, statement)
            return
        for hit in _targets(target, name):
            yield Binding(name, "unpack", hit, statement, value)


def _targets(target: ast.expr | None, name: str) -> Iterator[ast.Name]:
    if target is not None:
        yield from (
            n for n in ast.walk(target) if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
        )


def _parameter(function: Function | ast.Lambda, name: str) -> Binding | None:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    pairs = [*zip(positional, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    for argument, default in pairs:
        if argument.arg == name:
            return Binding(name, "parameter", argument, None, default)
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None and extra.arg == name:
            return Binding(name, "other", extra, None)
    return None


def _declared_outside(function: Function, name: str) -> bool:
    pending: list[ast.stmt] = list(function.body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.Global | ast.Nonlocal) and name in statement.names:
            return True
        if not isinstance(statement, _SCOPES):
            pending += (s for block in _blocks(statement) for s in block)
    return False
