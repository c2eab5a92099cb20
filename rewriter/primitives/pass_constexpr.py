"""pass_constexpr: give a kernel one more constexpr parameter and pass it at every launch.

rewrite:  kernel[grid](x, BV=BV)  ->  kernel[grid](x, BV=BV, TILES=2)

Numerics
    `bitwise`: a parameter that nothing reads yet changes nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ..kernel.changes import Changes
from ..kernel.definition import CONSTEXPR, KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.insert import insert_parameters
from ..kernel.launch import Launch
from ..reasons import refuse


def pass_constexpr(module: Module, launches: Sequence[Launch], name: str, value: str | int) -> list[Edit]:
    """Edits that add `name=value` to every launch. Raises Refuse(name_taken) where a launch passes that name."""
    return constexpr_changes(module, launches, {name: str(value)}).edits(module)


def constexpr_changes(module: Module, launches: Sequence[Launch], values: Mapping[str, str]) -> Changes:
    """The changes behind `pass_constexpr`, to be merged with others of the same launcher."""
    changes = Changes()
    for launch in launches:
        for name, text in values.items():
            if name in launch.arguments or name in launch.options:
                raise refuse("name_taken", launch.call, name=name, scope=f"the launch of {launch.kernel.name}")
            changes.add_keyword(launch.call, name, str(text))
    return changes


def add_parameter(module: Module, kernel: KernelDef, name: str, default: int = 1) -> list[Edit]:
    """Edits that add `name: tl.constexpr` to the signature; `= default` only where the one before it has a default.

    Raises Refuse: name_taken where the kernel or its module already uses the name; unknown_construct where the file
    has no way to write `constexpr`.
    """
    taken = {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name)} | set(kernel.parameter_names)
    if name in taken:
        raise refuse("name_taken", kernel.node, name=name, scope=kernel.name)
    annotation = _constexpr(module, kernel)
    text = f"{name}: {annotation}"
    if kernel.node.args.defaults and not kernel.node.args.kwonlyargs:
        text += f" = {default}"
    return insert_parameters(module.source, kernel.node, [text])


def _constexpr(module: Module, kernel: KernelDef) -> str:
    for parameter in kernel.parameters:
        if parameter.is_constexpr and parameter.node.annotation is not None:
            annotation = parameter.node.annotation
            whole = annotation.value if isinstance(annotation, ast.Subscript) else annotation
            return module.source.segment(whole)
    for name, dotted in module.names.imported.items():
        if dotted in CONSTEXPR:
            return name
        if dotted == "triton.language":
            return f"{name}.constexpr"
    raise refuse("unknown_construct", kernel.node, construct="a file without triton.language")
