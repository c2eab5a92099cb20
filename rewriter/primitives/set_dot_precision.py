"""set_dot_precision: name the precision of fp32 products that feed a loop-carried value.

rewrite:  b_h = tl.dot(b_a, b_h) + b_b  ->  b_h = tl.dot(b_a, b_h, input_precision=DOT_PRECISION) + b_b

The precision becomes a constexpr parameter with a default, the last one, so that no launch has to change and a caller
may still set it.

Numerics
    `approximate`: without a precision the operands may be rounded to TF32 (10 mantissa bits). `tf32x3` adds three TF32
    products of split operands, `ieee` takes fp32 as it is: results move, towards the exact product.

Conditions
    - both operands are proved fp32 (one is enough: `tl.dot` takes operands of one type);
    - the dot names neither input_precision nor allow_tf32;
    - its value flows into a name carried round a loop that holds the dot.
    Dots that do not meet them are left as they are; where none does, the primitive refuses.
"""

from __future__ import annotations

import ast
import re

from skel.store.schema import NumericsClass

from ..analysis.carried import carried_through
from ..analysis.flow import Flow, flow_of
from ..analysis.operators import operand, operation
from ..analysis.types import TypeAnalysis
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.insert import insert_arguments, insert_parameters
from ..reasons import refuse
from .base import Primitive
from .names import language_name, names_in_use

PARAMETER = "DOT_PRECISION"
PRECISIONS = ("tf32x3", "ieee")
_PINNED = ("input_precision", "allow_tf32")


def set_dot_precision(
    module: Module, kernel: KernelDef, precision: str = "tf32x3", target: str | None = None
) -> list[Edit]:
    """Edits that give every eligible dot of the kernel a precision.

    `precision`: `tf32x3` or `ieee`. `target`: the architecture it is for (`sm_90`, `gfx942`), where one is named.

    Raises Refuse: bad_setting, no_tf32_on_target, dot_precision_pinned, dot_operands_not_fp32, dot_not_carried,
    name_taken, unknown_construct.
    """
    if precision not in PRECISIONS:
        raise refuse("bad_setting", kernel.node, setting="precision", value=precision, why="it is tf32x3 or ieee")
    dots = eligible_dots(module, kernel)
    if precision == "tf32x3" and target is not None and not has_tf32(target):
        raise refuse("no_tf32_on_target", dots[0], target=target)
    if PARAMETER in names_in_use(module, kernel):
        raise refuse("name_taken", kernel.node, name=PARAMETER, scope=kernel.name)
    if kernel.node.args.vararg is not None or kernel.node.args.kwarg is not None:
        raise refuse("unknown_construct", kernel.node, construct="a parameter of any number of arguments")
    parameter = f'{PARAMETER}: {_constexpr(module, kernel)} = "{precision}"'
    edits = insert_parameters(module.source, kernel.node, [parameter])
    return edits + [e for dot in dots for e in insert_arguments(module.source, dot, [f"input_precision={PARAMETER}"])]


def eligible_dots(module: Module, kernel: KernelDef) -> list[ast.Call]:
    """The dots that may be given a precision, in source order. Raises Refuse where there is none."""
    flow = flow_of(kernel.node)
    types = TypeAnalysis(module, kernel, flow)
    dots = [n for n in ast.walk(kernel.node) if isinstance(n, ast.Call) and operation(module, flow, n) == "dot"]
    found: dict[str, list[ast.Call]] = {
        "": [],
        "dot_precision_pinned": [],
        "dot_operands_not_fp32": [],
        "dot_not_carried": [],
    }
    for dot in sorted(dots, key=lambda n: (n.lineno, n.col_offset)):
        found[_obstacle(module, flow, types, dot)].append(dot)
    if found[""]:
        return found[""]
    for code in ("dot_precision_pinned", "dot_operands_not_fp32", "dot_not_carried"):
        if found[code]:
            raise refuse(code, found[code][0], also=found[code][1:], kernel=kernel.name)
    raise refuse("dot_not_carried", kernel.node, kernel=kernel.name)


def _obstacle(module: Module, flow: Flow, types: TypeAnalysis, dot: ast.Call) -> str:
    """Code of what keeps a dot as it is; empty where nothing does."""
    if any(k.arg in _PINNED or k.arg is None for k in dot.keywords) or len(dot.args) > 3 or _starred(dot):
        return "dot_precision_pinned"
    if carried_through(flow, dot) is None or flow.opaque:
        return "dot_not_carried"
    operands = [operand(module, flow, dot, i, name) for i, name in enumerate(("input", "other"))]
    if not any(x is not None and types.is_fp32(x) for x in operands):
        return "dot_operands_not_fp32"
    return ""


def _starred(dot: ast.Call) -> bool:
    return any(isinstance(a, ast.Starred) for a in dot.args)


def has_tf32(target: str) -> bool:
    """True for NVIDIA architectures from sm_80 on."""
    match = re.fullmatch(r"sm_(\d+)[a-z]?", target)
    return match is not None and int(match.group(1)) >= 80


def _constexpr(module: Module, kernel: KernelDef) -> str:
    """The annotation as the kernel's other parameters spell it."""
    for parameter in reversed(kernel.parameters):
        annotation = parameter.node.annotation
        if parameter.is_constexpr and annotation is not None and not isinstance(annotation, ast.Subscript):
            return module.source.segment(annotation)
    name = language_name(module, kernel)
    if name is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    return f"{name}.constexpr"


PRIMITIVE = Primitive("set_dot_precision", set_dot_precision, NumericsClass.APPROXIMATE, ("precision", "target"))
