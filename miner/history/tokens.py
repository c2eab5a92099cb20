"""API tokens: the parts of a statement that say what it asks of the language, the compiler or the framework."""

from __future__ import annotations

import ast
from collections import Counter

_PLAIN_KEYWORDS = frozenset({"mask", "other", "boundary_check", "num_stages", "padding_option", "loop_unroll_factor"})
_VALUED_KEYWORDS = frozenset({"eviction_policy", "cache_modifier", "input_precision", "allow_tf32", "sem", "scope"})
_LAUNCH_OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg", "launch_pdl"})
_MAKERS = ("empty", "zeros", "full", "empty_like", "zeros_like", "ones")
_ALLOCATIONS = frozenset(f"{root}{name}" for root in ("torch.", "new_") for name in _MAKERS)


def tokens_of(node: ast.AST, *, kernel: bool) -> Counter[str]:
    """API tokens of a canonical statement or expression, with how often each stands there."""
    found: Counter[str] = Counter()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            _of_call(inner, found, kernel)
        elif isinstance(inner, ast.BinOp) and kernel and isinstance(inner.op, ast.Mod | ast.FloorDiv):
            found["%" if isinstance(inner.op, ast.Mod) else "//"] += 1
    return found


def dotted(node: ast.expr) -> str:
    """`a.b.c` of a chain of names; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def launched(node: ast.Call) -> str | None:
    """The kernel that `kernel[grid](...)` launches."""
    if isinstance(node.func, ast.Subscript):
        return dotted(node.func.value).rsplit(".", 1)[-1] or None
    return None


def _of_call(node: ast.Call, found: Counter[str], kernel: bool) -> None:
    name = dotted(node.func)
    kernel_name = launched(node)
    if name.startswith(("tl.", "triton.", "torch.")):
        found[name] += 1
        _of_keywords(node, name, found)
    elif kernel_name is not None and not kernel:
        found[f"launch:{kernel_name}"] += 1
        for keyword in node.keywords:
            if keyword.arg in _LAUNCH_OPTIONS:
                found[f"launch:{keyword.arg}"] += 1
    elif isinstance(node.func, ast.Attribute):
        _of_method(node, node.func.attr, found, kernel)
    elif name:
        found[f"call:{name}"] += 1


def _of_keywords(node: ast.Call, name: str, found: Counter[str]) -> None:
    for keyword in node.keywords:
        if keyword.arg in _PLAIN_KEYWORDS:
            found[f"{keyword.arg}="] += 1
        elif keyword.arg in _VALUED_KEYWORDS:
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else "?"
            found[f"{keyword.arg}={value!s}"] += 1
    if name == "triton.jit":
        for keyword in node.keywords:
            found[f"jit:{keyword.arg}"] += 1
    if name in _ALLOCATIONS and _is_float32(node):
        found["alloc:float32"] += 1


def _of_method(node: ast.Call, method: str, found: Counter[str], kernel: bool) -> None:
    if method == "to":
        kind = dotted(node.args[0]).rsplit(".", 1)[-1] if node.args else ""
        found[f"to:{kind}" if kind.startswith(("int", "uint", "float", "bfloat")) else "to:other"] += 1
    elif method in ("contiguous", "item", "stride", "tolist", "clone"):
        found[f".{method}"] += 1
    elif method.startswith("new_") and method in _ALLOCATIONS and _is_float32(node):
        found["alloc:float32"] += 1
    elif not kernel and method in ("sum", "split", "chunk", "transpose", "unbind", "float", "apply"):
        found[f".{method}"] += 1


def _is_float32(node: ast.Call) -> bool:
    """True where a `dtype=` may be float32."""
    return any(
        isinstance(inner, ast.Attribute) and inner.attr in ("float32", "float")
        for keyword in node.keywords
        if keyword.arg == "dtype"
        for inner in ast.walk(keyword.value)
    )
