"""Arguments for a launch of one kernel alone, guessed from its facts: small sizes, strides under which nothing
overlaps, flags off or on. Pointers are named with the kind of their elements and get no address here."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

from ..analysis.poly import Atom, Poly
from ..detectors.view import KernelView

SIZE = 4
"""A size that nothing else decides: a power of two, since it may be a block's."""
LARGE = 2**31 - 2**16
"""A limit that no index here reaches; sums of it with a tile stay inside 32 bits."""
COUNT = 2
"""A number that is no size: heads, steps, groups."""
ROW_STRIDES = (64, 1024, 16384, 262144)
"""Strides of dimensions other than the last: rows of the small sizes here never overlap."""
FACTOR = 0.5
"""A number that no address, mask or loop reads."""
_DTYPES = frozenset({"to", "cast", "zeros", "full", "pointer_type", "zeros_like"})


@dataclass(frozen=True)
class Roles:
    """What each parameter is, as the kernel uses it."""

    pointers: dict[str, str] = field(default_factory=dict)
    """Parameters that are accessed, and the kind of their elements: `float`, or `int` where they lead to an address, a
    mask, a branch or a loop."""
    limits: frozenset[str] = frozenset()
    """Where masks cut."""
    strides: dict[str, int] = field(default_factory=dict)
    """Numbers that multiply an index in an address, with a value each."""
    bounded: frozenset[str] = frozenset()
    """What bounds a loop, or is a factor in an address: large, it would take time or move every address."""
    whole: frozenset[str] = frozenset()
    """Numbers that must be integers."""
    flags: frozenset[str] = frozenset()
    """Constexprs that are tested."""
    texts: dict[str, Any] = field(default_factory=dict)
    """Constexprs that are compared with a text, or with None, and dtypes."""


def roles_of(view: KernelView) -> Roles:
    """The roles of all parameters of the kernel."""
    facts, names = view.facts, set(view.kernel.parameter_names)
    parts = [p for a in facts.accesses for p in (a.pointer, a.mask, *(c.value for c in a.conditions)) if p is not None]
    bounds = [n for n in view.own.nodes if isinstance(n, ast.For) and isinstance(n.iter, ast.Call)]
    ends = [argument for loop in bounds for argument in loop.iter.args]  # type: ignore[attr-defined]
    looped = [v for end in ends if (v := view.value(end)) is not None]
    leading = {m for p in (*parts, *looped) for m in p.memory}
    pointers = {b for a in facts.accesses for b in a.pointer.bases} & names
    limits = {i for a in facts.accesses for _, limit in a.covered for i in identifiers(limit)}
    limits |= {i for p in parts for bound in p.bounds for i in identifiers(bound.limit)}
    loops = _reached(view, list(ends))
    limits |= _compared(view)
    polys = [a.pointer.poly for a in facts.accesses if a.pointer.poly is not None]
    whole = _reached(view, _roots(view)) | limits | loops
    return Roles(
        {p: "int" if p in leading else "float" for p in sorted(pointers)},
        frozenset(limits & names),
        _strides(polys, names - limits - view.kernel.constexprs - pointers),
        frozenset((loops | {s for p in polys for s in p.symbols}) & names),
        frozenset(whole & names),
        frozenset(_tested(view) & view.kernel.constexprs),
        _texts(view),
    )


def identifiers(key: str) -> list[str]:
    """Names in a polynomial's key."""
    return re.findall(r"[A-Za-z_]\w*", key)


def arguments_of(view: KernelView, roles: Roles, sizes: dict[str, int], flag: bool, large: bool = False
                 ) -> dict[str, Any]:
    """A value for every parameter that is no pointer. `flag` is what tested constexprs are; `large` puts limits of
    masks out of reach, unless they are `bounded`."""
    given = _written_at_launches(view)
    found: dict[str, Any] = {}
    for parameter in view.kernel.parameters:
        name = parameter.name
        if name in roles.pointers:
            continue
        if name in sizes:
            found[name] = sizes[name]
        elif name in roles.texts:
            found[name] = given.get(name, roles.texts[name])
        elif name in roles.flags:
            found[name] = flag or bool(given.get(name, _literal(parameter.default)))
        elif isinstance(value := given.get(name, _literal(parameter.default)), float):
            found[name] = value
        elif parameter.is_constexpr:
            found[name] = SIZE
        elif name in roles.limits:
            found[name] = LARGE if large and name not in roles.bounded else SIZE
        else:
            found[name] = roles.strides.get(name, COUNT if name in roles.whole else FACTOR)
    return found


def _compared(view: KernelView) -> set[str]:
    """Names that an index is compared with."""
    found: set[str] = set()
    for node in view.own.nodes:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any((v := view.value(side)) is not None and v.poly is not None and v.poly.lane_axes for side in sides
                   ) or any(isinstance(side, ast.Name) and _is_range(view, side) for side in sides):
                found |= {n.id for side in sides for n in ast.walk(side) if isinstance(n, ast.Name)}
    return found


def _is_range(view: KernelView, node: ast.expr) -> bool:
    value = view.value(node)
    return value is not None and value.poly is not None and any(a.kind == "range" for a in value.poly.atoms)


def _roots(view: KernelView) -> list[ast.AST]:
    """Addresses, masks, tests and whole divisions."""
    roots: list[ast.AST] = []
    for node in view.own.nodes:
        match node:
            case ast.Call() if (operation := view.operation(node)) in _ACCESSES:
                masks = node.args[1:2] if operation == "load" else node.args[2:3] if operation == "store" else []
                roots += [*node.args[:1], *masks, *(k.value for k in node.keywords if k.arg == "mask")]
            case ast.Compare() | ast.BinOp(op=ast.FloorDiv() | ast.Mod()):
                roots.append(node)
    return roots


def _reached(view: KernelView, roots: list[ast.AST]) -> set[str]:
    """Names that expressions are computed from, through assignments."""
    assigned: dict[str, list[ast.AST]] = {}
    for node in view.own.nodes:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(
            node, ast.AugAssign) else []
        for name in (n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)):
            assigned.setdefault(name.id, []).append(node.value)  # type: ignore[attr-defined]
    found: set[str] = set()
    while roots:
        new = {n.id for n in _outside_loads(view, roots.pop()) if isinstance(n, ast.Name)} - found
        found |= new
        roots += [value for name in new for value in assigned.get(name, ())]
    return found


_ACCESSES = frozenset({"load", "store", "make_block_ptr", "advance", "atomic_add", "atomic_max", "atomic_min"})


def _outside_loads(view: KernelView, root: ast.AST) -> list[ast.AST]:
    """The nodes of an expression without the inner parts of loads."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if node is root or view.operation(node) != "load":
            waiting += ast.iter_child_nodes(node)
    return found


def _strides(polys: list[Poly], names: set[str]) -> dict[str, int]:
    """1 for what multiplies lanes of the last dimension, else a row's stride; each other one larger."""
    last: set[str] = set()
    rows: dict[str, None] = {}
    for poly in polys:
        for monomial, _ in poly.terms:
            moving = [a for a in monomial if a.kind != "sym"]
            for name in (a.key for a in monomial if a.kind == "sym" and a.key in names):
                if any(_on_last(a) for a in moving):
                    last.add(name)
                elif moving:
                    rows[name] = None
    values = {name: ROW_STRIDES[min(i, len(ROW_STRIDES) - 1)] for i, name in enumerate(reversed(rows))}
    return values | dict.fromkeys(last, 1)


def _on_last(atom: Atom) -> bool:
    return atom.kind in ("lane", "range") and atom.dim == -1


def _tested(view: KernelView) -> set[str]:
    """Names that stand alone in a test."""
    found: set[str] = set()
    for node in view.own.nodes:
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            found |= _alone(node.test)
    return found


def _alone(test: ast.expr) -> set[str]:
    match test:
        case ast.Name(id=name):
            return {name}
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _alone(inner)
        case ast.BoolOp(values=values):
            return {name for value in values for name in _alone(value)}
    return set()


def _texts(view: KernelView) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for node in view.own.nodes:
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name):
            values = [c.value for c in node.comparators if isinstance(c, ast.Constant)]
            for value in values:
                if isinstance(value, str) or value is None:
                    found.setdefault(node.left.id, value)
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            held = [*node.args, *(k.value for k in node.keywords)] if called in _DTYPES else []
            held += [k.value for k in node.keywords if k.arg == "dtype"]
            for name in (a.id for a in held if isinstance(a, ast.Name) and "dtype" in a.id.lower()):
                found.setdefault(name, {"dtype": "float32"})
    return {name: value for name, value in found.items() if name in view.kernel.constexprs}


def _literal(node: ast.expr | None) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _written_at_launches(view: KernelView) -> dict[str, Any]:
    """Plain values that every launch in the file gives, other than integers: sizes are chosen small here."""
    found: dict[str, set[Any]] = {}
    for launch in view.launches:
        for name, node in launch.arguments.items():
            found.setdefault(name, set()).add(_literal(node))
    plain = {name: next(iter(values)) for name, values in found.items() if len(values) == 1}
    return {name: value for name, value in plain.items() if isinstance(value, bool | float | str)}
