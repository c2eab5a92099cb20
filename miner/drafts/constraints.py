"""Constraints on the holes of a template: the join of what was observed of the terms that stood there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from skel.store.schema.base import Record

from .terms import Term, show, subterms

Origins = Mapping[str, str]
"""Where the names of one function come from: `constexpr`, `parameter`, `program_id`, `load`, `arange`, `loop`,
`computed`; names of no entry are global."""
_INTEGRAL = ("tl.program_id", "tl.num_programs", "tl.arange", "cdiv", "min", "max")
VALUES = 4
"""At most as many different constants are listed one by one."""
_SOURCES = (("tl.program_id", "program_id"), ("tl.load", "load"), ("tl.arange", "arange"))


class Constraint(Record):
    """What a hole may stand for."""

    kinds: tuple[str, ...]
    """Kinds of terms: `Name`, `Constant`, `Call`, `BinOp`, ..., sorted."""
    values: tuple[str, ...] = ()
    """Where only constants were seen, and few of them: these."""
    origins: tuple[str, ...] = ()
    """Where the names in it come from, sorted."""

    def holds(self, term: Term, origins: Origins) -> bool:
        """True where a term is within what was observed."""
        if isinstance(term, str) or term[0] not in self.kinds:
            return False
        if self.values and show(term) not in self.values:
            return False
        return origins_in(term, origins) <= set(self.origins)


def join(observed: Iterable[tuple[Term, Origins]]) -> Constraint:
    """The narrowest constraint that holds for everything observed."""
    kinds: set[str] = set()
    values: set[str] = set()
    origins: set[str] = set()
    for term, of in observed:
        kinds.add(str(term[0]) if not isinstance(term, str) else "text")
        values.add(show(term))
        origins |= origins_in(term, of)
    listed = tuple(sorted(values)) if kinds == {"Constant"} and len(values) <= VALUES else ()
    return Constraint(kinds=tuple(sorted(kinds)), values=listed, origins=tuple(sorted(origins)))


def origins_in(term: Term, origins: Origins) -> set[str]:
    """Origins of the names in a term; calls count as what they give."""
    found: set[str] = set()
    for part in subterms(term):
        if isinstance(part, str) or part[0] not in ("Name", "Call"):
            continue
        text = show(part)
        if part[0] == "Name":
            if text not in ("tl", "triton", "torch"):
                found.add(origins.get(text, "global"))
        else:
            found |= {origin for call, origin in _SOURCES if text.startswith(f"{call}(")}
    return found


def origins_of(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module) -> dict[str, str]:
    """Origins of every name that a canonical function binds; the last assignment in the text decides."""
    found: dict[str, str] = {}
    if not isinstance(function, ast.Module):
        a = function.args
        for argument in [*a.posonlyargs, *a.args, *a.kwonlyargs]:
            constexpr = argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)
            found[argument.arg] = "constexpr" if constexpr else "parameter"
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            found |= dict.fromkeys(_names(node.target), "loop")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for name, value in _pairs(target, node.value):
                    if found.get(name) not in ("constexpr", "parameter"):
                        found[name] = _origin(value)
    return found


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [p for t, v in zip(target.elts, value.elts, strict=True) for p in _pairs(t, v)]
    return [(name, value) for name in _names(target)]


def _names(node: ast.AST) -> list[str]:
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]


def _origin(value: ast.expr) -> str:
    text = ast.unparse(value)
    origin = next((origin for call, origin in _SOURCES if f"{call}(" in text), "computed")
    return origin if origin == "load" or _is_integral(value) else "computed"


def _is_integral(value: ast.expr) -> bool:
    """False where something in it may be no integer: a division, a number with a point, a call of something else."""
    for node in ast.walk(value):
        match node:
            case ast.BinOp(op=ast.Div()) | ast.Constant(value=float()):
                return False
            case ast.Call(func=ast.Attribute(attr="to"), args=[kind]) if ast.unparse(kind) not in (
                "tl.int32",
                "tl.int64",
            ):
                return False
            case ast.Call(func=function) if not ast.unparse(function).endswith((*_INTEGRAL, ".to")):
                return False
    return True
