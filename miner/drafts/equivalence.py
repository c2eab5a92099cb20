"""When two statements of a kernel mean the same although their texts differ, decided by a normal form.

It is a syntactic check, and strict: what the form leaves out changes no value. Left out are hints to the compiler and
the caches, what an autotuner tries, warps and stages, arguments that are not specialised on, and the width of what is
an integer by itself, where the new side is no narrower. Rewritten to one form are roots (`x / sqrt(y)`), base-two
exponentials of a scaled argument, ceiling division, and accumulation in a product. Everything else must be equal. The
order of sums and the last bit of roots and exponentials may change; nothing else may.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from skel.miner.history.tokens import dotted

from .constraints import Origins

_HINTS = frozenset({"tl.multiple_of", "tl.max_contiguous", "tl.max_constancy"})
_HINT_KEYWORDS = frozenset({"eviction_policy", "cache_modifier"})
_TUNING = frozenset({"num_warps", "num_stages", "maxnreg", "num_ctas"})
_LOG2E = re.compile(r"^1\.44269")
_WIDE = re.compile(r"\btl\.int64\b")


def equivalent(before: str, after: str, integers: frozenset[str] = frozenset()) -> bool:
    """True where two canonical statements have one normal form, and the second is no narrower. `integers`: names that
    hold integers."""
    return all_equivalent([before], [after], integers)


def all_equivalent(before: Sequence[str], after: Sequence[str], integers: frozenset[str] = frozenset()) -> bool:
    """True where two functions, given as their statements, have one normal form, and the second is no narrower."""
    if sum(len(_WIDE.findall(t)) for t in before) > sum(len(_WIDE.findall(t)) for t in after):
        return False
    old, new = ([n for t in side if (n := normal(t, integers))] for side in (before, after))
    return old == new


def normal(text: str, integers: frozenset[str] = frozenset()) -> str:
    """The normal form of one statement; empty for one that changes no value."""
    prefix, body, suffix = _parts(text)
    try:
        tree = ast.parse(body)
    except (SyntaxError, ValueError, RecursionError):
        return text
    if prefix == "@":
        name = dotted(_function(tree))
        return "" if "autotune" in name or name.endswith("jit") else text
    return prefix + ast.unparse(_Normal(integers).visit(tree)) + suffix


def integer_names(origins: Origins) -> frozenset[str]:
    """Names that hold integers for sure: program ids and what is computed from them, ranges, and loop counters."""
    return frozenset(name for name, origin in origins.items() if origin in ("program_id", "arange", "loop"))


def _parts(text: str) -> tuple[str, str, str]:
    """Text before an expression that can be parsed, the expression, and text after it."""
    if text.startswith("@"):
        return "@", text[1:], ""
    head = re.match(r"^(if|while) (.*):$", text, re.DOTALL) or re.match(r"^(for .*? in) (.*):$", text, re.DOTALL)
    if head:
        return f"{head[1]} ", head[2], ":"
    return "", text, ""


def _function(tree: ast.Module) -> ast.expr:
    node = tree.body[0]
    assert isinstance(node, ast.Expr)
    return node.value.func if isinstance(node.value, ast.Call) else node.value


class _Normal(ast.NodeTransformer):
    def __init__(self, integers: frozenset[str]) -> None:
        self._integers = integers

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = dotted(node.func)
        if name in _HINTS and node.args:
            return node.args[0]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to" and len(node.args) == 1:
            if dotted(node.args[0]) in ("tl.int32", "tl.int64") and not node.keywords:
                if self._is_integer(node.func.value):
                    return node.func.value
                node.args = [_chain("tl.int")]  # of either width
        if name in ("tl.load", "tl.store"):
            node.keywords = [k for k in node.keywords if k.arg not in _HINT_KEYWORDS]
        elif isinstance(node.func, ast.Subscript) or name in ("tl.range", "range"):
            node.keywords = [k for k in node.keywords if k.arg not in _TUNING]
            if name == "tl.range" and not node.keywords:
                node.func = ast.Name("range", ast.Load())
        elif name == "tl.rsqrt":
            return ast.BinOp(ast.Constant(1.0), ast.Div(), ast.Call(_chain("tl.sqrt"), node.args, []))
        elif name == "tl.exp2" and len(node.args) == 1 and (inner := _unscaled(node.args[0])) is not None:
            return ast.Call(_chain("tl.exp"), [inner], [])
        elif name in ("triton.cdiv", "tl.cdiv") and len(node.args) == 2:
            node.func = _chain("cdiv")
        return node

    def _is_integer(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self._integers
            case ast.Constant(value=value):
                return isinstance(value, int)
            case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right):
                return self._is_integer(left) and self._is_integer(right)
            case ast.Call():
                return dotted(node.func) in ("tl.program_id", "tl.num_programs", "tl.arange")
        return False

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div) and ast.unparse(one.left) == "1.0":
                    return ast.BinOp(other, ast.Div(), one.right)
        if isinstance(node.op, ast.FloorDiv):
            match node.left:
                case ast.BinOp(ast.BinOp(x, ast.Add(), b), ast.Sub(), ast.Constant(1)) if ast.unparse(b) == ast.unparse(
                    node.right
                ):
                    return ast.Call(_chain("cdiv"), [x, node.right], [])
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Call() as call) if (
                dotted(call.func) == "tl.dot"
            ):
                acc = [*call.args[2:3], *(k.value for k in call.keywords if k.arg == "acc")]
                if len(acc) == 1 and isinstance(acc[0], ast.Name) and acc[0].id == name:
                    call.args = call.args[:2]
                    call.keywords = [k for k in call.keywords if k.arg != "acc"]
                    return ast.AugAssign(ast.Name(target.id, ast.Store()), ast.Add(), call)
        return node


def _unscaled(node: ast.expr) -> ast.expr | None:
    """`x` of `x * log2(e)`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.Constant) and _LOG2E.match(repr(one.value)):
                return other
    return None


def _chain(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
