"""Element types of expressions, as sets of what they may be, by Triton's own promotion rules.

`float` and `int` stand for Python's numbers, which take the other operand's type. None is anything at all.
"""

from __future__ import annotations

import ast

from ..kernel.definition import KernelDef, Module
from .flow import Definition, Flow
from .operations import DTYPES, FLOATS, INTEGERS
from .operators import number, operand, operation

Types = frozenset[str] | None

WIDE: frozenset[str] = frozenset({"fp32", "fp64"})
"""What `tl.exp`, `tl.sqrt` and their like take and give: they reject anything else."""
SCALAR_ARGUMENT: frozenset[str] = frozenset({"fp32", "int32", "int64", "uint64", "int1", "int", "float"})
"""What a runtime argument that is no pointer can be."""

_WIDE_ONLY = frozenset({"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sqrt_rn", "sin", "cos", "sigmoid", "erf"})
_SAME = frozenset(
    {
        "abs",
        "trans",
        "permute",
        "reshape",
        "view",
        "expand_dims",
        "broadcast_to",
        "ravel",
        "flip",
        "neg",
        "clamp",
        "cummax",
        "sort",
        "multiple_of",
        "max_contiguous",
        "max_constancy",
        "zeros_like",
    }
)
_REDUCED = {
    "bf16": ("fp32",),
    "fp16": ("fp16", "fp32"),
    "uint8": ("int32", "uint32"),
    "uint16": ("int32", "uint32"),
    "int1": ("int32",),
    "int8": ("int32",),
    "int16": ("int32",),
}
_INT32 = frozenset({"program_id", "num_programs", "arange", "argmax", "argmin"})


_NUMERIC = (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)


class TypeAnalysis:
    """Types of the expressions of one function. Results are cached for each node."""

    def __init__(self, module: Module, kernel: KernelDef, flow: Flow) -> None:
        self.module, self.kernel, self.flow = module, kernel, flow
        self._nodes: dict[ast.expr, Types] = {}
        self._definitions: dict[Definition, Types] = {}
        self._active: set[Definition] = set()

    def is_wide(self, node: ast.expr) -> bool:
        """True where it is proved fp32 or fp64."""
        types = self.of(node)
        return bool(types) and types is not None and types <= WIDE

    def is_fp32(self, node: ast.expr) -> bool:
        """True where it is proved fp32."""
        return self.of(node) == frozenset({"fp32"})

    def may_be_integer(self, node: ast.expr) -> bool:
        types = self.of(node)
        return types is None or bool(types & (INTEGERS | {"int"}))

    def is_integer(self, node: ast.expr) -> bool:
        """True where it is proved an integer."""
        types = self.of(node)
        return types is not None and types <= INTEGERS | {"int"}

    def of(self, node: ast.expr) -> Types:
        """Types that the expression may have."""
        if node not in self._nodes:
            self._nodes[node] = self._of(node)
        return self._nodes[node]

    def definition(self, made: Definition) -> Types:
        """Types that a name may have. A carried name keeps the type it enters the loop with: Triton insists."""
        if made in self._definitions:
            return self._definitions[made]
        if made in self._active:
            return None
        self._active.add(made)
        try:
            types = self._definition(made)
        finally:
            self._active.discard(made)
        self._definitions[made] = types
        return types

    def _definition(self, made: Definition) -> Types:
        match made.kind:
            case "parameter":
                return self._parameter(made)
            case "assign" if made.value is not None:
                return self.of(made.value)
            case "augmented" if made.sources and made.value is not None:
                assert isinstance(made.statement, ast.AugAssign)
                return combine(type(made.statement.op).__name__, self.definition(made.sources[0]), self.of(made.value))
            case "carry" if not self._is_unrolled(made):
                return tensor(self.definition(made.sources[0]))
            case "join" | "carry":
                parts = [self.definition(s) for s in made.sources]
                if any(p is None for p in parts):
                    return None
                return frozenset(t for p in parts if p is not None for t in p)
            case "loop":
                return frozenset({"int32", "int64", "int"})
            case _:
                return None

    def _is_unrolled(self, made: Definition) -> bool:
        """A static range is unrolled, so nothing holds the type from one round to the next."""
        loop = made.node
        return (
            isinstance(loop, ast.For)
            and isinstance(loop.iter, ast.Call)
            and operation(self.module, self.flow, loop.iter) == "static_range"
        )

    def _parameter(self, made: Definition) -> Types:
        parameter = self.kernel.parameter(made.name)
        if parameter is not None and parameter.is_constexpr:
            # As an operand it is a Python number; whatever else it may be (a type, a name) has no place in arithmetic.
            return frozenset({"float", "int"})
        if parameter is None or not self.kernel.is_entry:
            return None
        return None if self._is_pointer(made, set()) else SCALAR_ARGUMENT

    def _is_pointer(self, made: Definition, seen: set[Definition]) -> bool:
        """True unless the parameter is seen to be a number: an operand of a product, a quotient or a comparison."""
        for use in made.uses:
            parent = self.flow.parents[use]
            if isinstance(parent, (ast.BinOp, ast.AugAssign)) and isinstance(parent.op, _NUMERIC):
                return False
            if isinstance(parent, ast.Compare) and not any(
                isinstance(o, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) for o in parent.ops
            ):
                return False
        return True

    def _of(self, node: ast.expr) -> Types:
        match node:
            case ast.Constant(value=bool()):
                return frozenset({"int1"})
            case ast.Constant(value=int()):
                return frozenset({"int"})
            case ast.Constant(value=float()):
                return frozenset({"float"})
            case ast.Name():
                made = self.flow.reaching.get(node)
                if made is not None:
                    return self.definition(made)
                return frozenset({"float", "int"}) if number(self.module, self.flow, node) is not None else None
            case ast.BinOp(left=left, op=op, right=right):
                return combine(type(op).__name__, self.of(left), self.of(right))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
                return self.of(inner)
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return frozenset({"int1"})
            case ast.IfExp(body=body, orelse=other):
                a, b = self.of(body), self.of(other)
                return None if a is None or b is None else a | b
            case ast.Subscript(value=value):
                return self.of(value) if not isinstance(value, (ast.Tuple, ast.List)) else None
            case ast.Attribute(value=value, attr="T"):
                return self.of(value)
            case ast.Call():
                return self._call(node)
            case _:
                return None

    def _call(self, node: ast.Call) -> Types:
        if number(self.module, self.flow, node) is not None:
            return frozenset({"float"})
        name = operation(self.module, self.flow, node)
        if name is None:
            return None
        first = operand(self.module, self.flow, node, 0, "input")
        if name in _WIDE_ONLY:
            given = self.of(first) if first is not None else None
            return given if given is not None and given and given <= WIDE else WIDE
        if name in _INT32:
            return frozenset({"int32"})
        if name in ("to", "cast"):
            return self.dtype(operand(self.module, self.flow, node, 1, "dtype"))
        if name in ("zeros", "full"):
            return self.dtype(operand(self.module, self.flow, node, 1 if name == "zeros" else 2, "dtype"))
        if name in _SAME:
            return self.of(first) if first is not None else None
        if name in ("sum", "max", "min", "cumsum", "cumprod"):
            return self._summed(node, first)
        if name == "where":
            second, third = (operand(self.module, self.flow, node, i, n) for i, n in ((1, "x"), (2, "y")))
            return (
                tensor(combine("where", self.of(second), self.of(third)))
                if second is not None and third is not None
                else None
            )
        if name in ("maximum", "minimum"):
            second = operand(self.module, self.flow, node, 1, "y")
            return (
                tensor(combine("where", self.of(first), self.of(second)))
                if first is not None and second is not None
                else None
            )
        if name == "dot":
            return self._dot(node)
        return None

    def _summed(self, node: ast.Call, first: ast.expr | None) -> Types:
        """Reductions and scans widen narrow integers to 32 bits and bf16 to fp32; of fp16 it depends on which."""
        if any(k.arg in ("dtype", "return_indices") for k in node.keywords) or first is None:
            return None
        given = self.of(first)
        return None if given is None else frozenset(t for g in given for t in _REDUCED.get(g, (g,)))

    def _dot(self, node: ast.Call) -> Types:
        if any(k.arg in ("out_dtype", None) for k in node.keywords):
            return None
        left, right = (operand(self.module, self.flow, node, i, n) for i, n in ((0, "input"), (1, "other")))
        if any(x is not None and self.is_fp32(x) for x in (left, right)):
            return frozenset({"fp32"})
        return frozenset({"fp32", "fp64", "int32"})

    def dtype(self, node: ast.expr | None) -> Types:
        """Type that a type expression names: `tl.float32`, `x.dtype`."""
        if isinstance(node, ast.Attribute):
            name = self.module.names.triton_name(node)
            if name in DTYPES:
                return frozenset({DTYPES[name]})
            if node.attr == "dtype":
                return tensor(self.of(node.value))
        if isinstance(node, ast.Name) and node not in self.flow.reaching:
            name = self.module.names.triton_name(node)
            return frozenset({DTYPES[name]}) if name in DTYPES else None
        return None


def tensor(types: Types) -> Types:
    """Types after a Python number has become a tensor."""
    if types is None:
        return None
    return frozenset({"float": "fp32", "int": "int32"}.get(t, t) for t in types)


def combine(operator: str, a: Types, b: Types) -> Types:
    """Types of `a operator b` (an operator by its AST class name, or `where`)."""
    if a is None or b is None:
        known = a if b is None else b
        if known is not None and known and known <= WIDE:
            return WIDE
        return None
    return frozenset(t for x in a for y in b for t in _pair(operator, x, y))


def _pair(operator: str, x: str, y: str) -> tuple[str, ...]:
    python = {"float", "int"}
    if x in python and y in python:
        return ("float",) if operator == "Div" or "float" in (x, y) else ("int",)
    if x in python or y in python:
        number_, other = (x, y) if x in python else (y, x)
        if other in FLOATS:
            return ("fp32",) if operator == "Div" and other in ("fp16", "bf16") else (other,)
        if operator == "Div" or number_ == "float":
            return ("fp32",)
        return ("int32",) if other == "int1" else (other,)
    floats = [t for t in (x, y) if t in FLOATS]
    if not floats:
        if operator == "Div":
            return ("fp32",)
        if x == y:
            return (x,)
        return (max(x, y, key=_width),) if _width(x) != _width(y) else (x, y)
    if "fp64" in floats:
        return ("fp64",)
    if "fp32" in floats:
        return ("fp32",)
    if len(floats) == 1 or floats[0] == floats[1]:
        return ("fp32",) if operator == "Div" else (floats[0],)
    return ("fp32",) if operator == "Div" else ("fp16", "bf16", "fp32")


def _width(name: str) -> int:
    digits = "".join(c for c in name if c.isdigit())
    return int(digits) if digits else 0
