"""alignment_hints: say that offsets wrapped with `%` stay in one run, where the tile divides the size.

rewrite:  o_n = (i_n * BN + tl.arange(0, BN)) % N      ->  o_n = (i_n * BN + tl.arange(0, BN)) % N
                                                           if EVEN_N:
                                                               o_n = tl.max_contiguous(tl.multiple_of(o_n, BN), BN)

          kernel[grid](x, y, N, BN=BN)                 ->  kernel[grid](x, y, N, BN=BN, EVEN_N=N % BN == 0)

The compiler cannot see through the wrap and loads such offsets one by one. Where BN divides N a tile never crosses the
end, so it is BN neighbours, from a multiple of BN on. The branch is decided at compile time; where N is a constexpr the
test stands in the kernel and no launch changes.

Conditions
    - a name is assigned `(tile * BN + tl.arange(0, BN)) % N`, in whatever order, BN a constexpr and N any parameter,
      neither ever set in the kernel, and the name is set nowhere else;
    - the tile is counted from program ids by sums, products, quotients, remainders and minima of sizes: it is not
      negative;
    - the kernel gives no such hint yet;
    - of a run-time N: every launch is read and gives both as names, numbers or sizes.
    Names that do not meet them are left; where none does, the primitive refuses.

Numerics
    `bitwise`: the same addresses. A wrong hint would load other elements, so what is not proved is not said.

Refuses: pattern_not_found, already_applied, alignment_not_proved, name_taken, unknown_construct, unreadable_launch,
no_launch_site.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from skel.store.schema import NumericsClass

from ..analysis.flow import Flow, flow_of
from ..analysis.operators import operand, operation
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.insert import insert_lines
from ..reasons import Refuse, refuse
from .base import Primitive
from .elide_masks import UNIT, Even, even_parameters
from .names import language_name

_HINTS = frozenset({"multiple_of", "max_contiguous"})
_GROWING = (ast.Add, ast.Mult)
_SHARING = (ast.FloorDiv, ast.Mod)


@dataclass(frozen=True)
class _Wrapped:
    """One assignment of wrapped offsets."""

    statement: ast.Assign
    name: str
    even: Even


def alignment_hints(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that hint at every wrapped tile that is proved to stay in one run. Raises Refuse."""
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    flow = flow_of(kernel.node)
    if flow.opaque:
        what = flow.opaque[0]
        raise refuse("unknown_construct", what, construct=f"`{type(what).__name__.lower()}`")
    for call in (n for n in ast.walk(kernel.node) if isinstance(n, ast.Call)):
        if operation(module, flow, call) in _HINTS:
            raise refuse("already_applied", call, kernel=kernel.name, skeleton="alignment_hints")
    search = _Search(module, kernel, flow)
    found = search.found()
    if not found:
        raise search.unproved or refuse(
            "pattern_not_found", kernel.node, kernel=kernel.name, skeleton="alignment_hints"
        )
    runtime = list(dict.fromkeys(w.even for w in found if w.even.dimension not in kernel.constexprs))
    edits: list[Edit] = []
    if runtime:
        try:
            edits = even_parameters(module, kernel, runtime)
        except Refuse:
            # What the launches cannot tell stays; what the kernel knows by itself need not.
            found = [w for w in found if w.even not in runtime]
            if not found:
                raise
    for one in found:
        test = one.even.flag if one.even in runtime else one.even.test
        tile = one.even.tile
        hint = f"{one.name} = {language}.max_contiguous({language}.multiple_of({one.name}, {tile}), {tile})"
        line = insert_lines(module.source, one.statement, None, [f"if {test}:", UNIT + hint])
        if line is None:
            raise refuse("unknown_construct", one.statement, construct="several statements on one line")
        edits.append(line)
    return edits


class _Search:
    def __init__(self, module: Module, kernel: KernelDef, flow: Flow) -> None:
        self.module, self.kernel, self.flow = module, kernel, flow
        self.unproved: Refuse | None = None

    def found(self) -> list[_Wrapped]:
        """Assignments of tiles that one size wraps, in source order."""
        wrapped = []
        for statement in (n for n in ast.walk(self.kernel.node) if isinstance(n, ast.Assign)):
            match statement:
                case ast.Assign(
                    targets=[ast.Name(id=name)], value=ast.BinOp(left=left, op=ast.Mod(), right=ast.Name() as size)
                ):
                    try:
                        even = self._even(left, size)
                    except Refuse as refused:
                        self.unproved = self.unproved or refused
                        continue
                    if even is not None and self.flow.times_set(name) == 1:
                        wrapped.append(_Wrapped(statement, name, even))
        return sorted(wrapped, key=lambda w: w.statement.lineno)

    def _even(self, node: ast.expr, size: ast.Name) -> Even | None:
        """What makes the wrapped offsets one run; None for what is no block of neighbours. Raises Refuse."""
        node = self._resolved(node)
        terms = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else []
        lanes = [t for t in terms if self._lanes(t) is not None]
        if len(lanes) != 1:
            return None
        tile = self._lanes(lanes[0])
        start = self._resolved(next(t for t in terms if t is not lanes[0]))
        dimension = self._parameter(size)
        if tile is None or tile not in self.kernel.constexprs or dimension is None or dimension == tile:
            raise self._unproved(size, "the size or the tile is no parameter, or is set again")
        factors = [start.left, start.right] if isinstance(start, ast.BinOp) and isinstance(start.op, ast.Mult) else []
        others = [f for f in factors if self._parameter(f) != tile]
        if len(others) != 1:
            raise self._unproved(size, "they do not start at a multiple of the tile")
        if not self._counts(others[0], 12):
            raise self._unproved(size, f"`{ast.unparse(others[0])}` is not counted from program ids")
        return Even(dimension, tile, True)

    def _counts(self, node: ast.expr, depth: int) -> bool:
        """True for a number that is not negative: counted from program ids and sizes."""
        node = self._resolved(node)
        if depth == 0:
            return False
        match node:
            case ast.Constant(value=int() as value):
                return value >= 0
            case ast.Name():
                made = self.flow.definition(node)
                if made is not None and made.kind == "unpack" and isinstance(made.value, ast.Call):
                    is_swizzle = operation(self.module, self.flow, made.value) == "swizzle2d"
                    return is_swizzle and all(self._counts(a, depth - 1) for a in made.value.args)
                name = self._parameter(node)
                return name is not None and (name in self.kernel.constexprs or self._is_size(name))
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _GROWING + _SHARING):
                # A remainder has the sign of what is divided.
                return self._counts(left, depth - 1) and (isinstance(op, ast.Mod) or self._counts(right, depth - 1))
            case ast.Call(args=arguments):
                name = operation(self.module, self.flow, node)
                if name == "program_id":
                    return True
                if name in ("to", "cast"):
                    first = operand(self.module, self.flow, node, 0, "input")
                    return first is not None and self._counts(first, depth - 1)
                builtin = isinstance(node.func, ast.Name) and node.func.id == "min"
                if name in ("cdiv", "minimum", "num_programs") or builtin:
                    return all(self._counts(a, depth - 1) for a in arguments)
        return False

    def _is_size(self, name: str) -> bool:
        """True for an argument that something is divided by, counted to or below: a shift may be negative."""
        for use in (u for d in self.flow.definitions if d.kind == "parameter" and d.name == name for u in d.uses):
            match self.flow.parents[use]:
                case ast.BinOp(op=ast.FloorDiv() | ast.Mod(), right=right) if right is use:
                    return True
                case ast.Compare(ops=[ast.Lt()], comparators=[right]) if right is use:
                    return True
                case ast.Call() as call if use in call.args:
                    builtin = isinstance(call.func, ast.Name) and call.func.id in ("range", "min")
                    if builtin or operation(self.module, self.flow, call) in ("cdiv", "range", "minimum", "swizzle2d"):
                        return True
        return False

    def _lanes(self, node: ast.expr) -> str | None:
        """BN of `tl.arange(0, BN)`."""
        node = self._resolved(node)
        if not isinstance(node, ast.Call) or operation(self.module, self.flow, node) != "arange":
            return None
        if len(node.args) != 2 or not isinstance(node.args[0], ast.Constant) or node.args[0].value != 0:
            return None
        return self._parameter(node.args[1])

    def _resolved(self, node: ast.expr) -> ast.expr:
        """What a name was assigned; a parameter stays its name."""
        for _ in range(16):
            made = self.flow.definition(node)
            if made is None or made.kind != "assign" or made.value is None:
                return node
            node = made.value
        return node

    def _parameter(self, node: ast.expr) -> str | None:
        return self.flow.parameter(self._resolved(node))

    def _unproved(self, where: ast.AST, why: str) -> Refuse:
        return refuse("alignment_not_proved", where, why=why)


PRIMITIVE = Primitive("alignment_hints", alignment_hints, NumericsClass.BITWISE)
