"""pipeline_loads. Used: more than one stage asked for in tl.range, in an autotune configuration of a kernel that has a
loop, or at the launch of one that walks a tl.range or feeds products in a loop. Stages without such a loop pipeline
nothing and are not counted."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..kernel.definition import Module
from ..kernel.idioms import follow
from ..kernel.launch import Launch
from ..kernel.scope import reaching
from .base import Detector, Seen
from .view import KernelView

_DEPTH = 4


def _uses(view: KernelView) -> list[Seen]:
    found = []
    ranges = view.own.called("range")
    for call in ranges:
        stages = next((k.value for k in call.keywords if k.arg == "num_stages"), None)
        if stages is not None and _in_kernel(stages):
            found.append(Seen(call.lineno, "a loop asks for more than one pipeline stage"))
    found += [Seen(node.lineno, "configurations ask for more than one pipeline stage") for node in _tuned(view)]
    if ranges or _walks_products(view):
        for launch in view.launches:
            option = launch.options.get("num_stages")
            asked = [option.value] if option is not None else _in_splats(view.module, launch)
            if any(n > 1 for stages in asked for n in _numbers(view.module, stages, _DEPTH)):
                found.append(Seen(launch.line, "the launch asks for more than one pipeline stage"))
    return found


def _in_splats(module: Module, launch: Launch) -> list[ast.expr]:
    """Stages in dictionaries that the launching function writes out and passes with `**`."""
    found = []
    for splat in launch.splats:
        values = [splat, follow(module, splat)[0]]
        if isinstance(splat, ast.Name):
            values += [b.value for b in reaching(module.source, splat.id, splat) if b.value is not None]
        for value in {id(v): v for v in values}.values():
            if isinstance(value, ast.Dict):
                found += [
                    v
                    for k, v in zip(value.keys, value.values, strict=True)
                    if isinstance(k, ast.Constant) and k.value == "num_stages"
                ]
            elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
                found += [k.value for k in value.keywords if k.arg == "num_stages"]
    return found


def _walks_products(view: KernelView) -> bool:
    """A loop feeds products with what it loads: the compiler pipelines such a loop by the launch's stages."""
    for loop in view.loops:
        inside = set(ast.walk(loop))
        if any(c in inside for c in view.own.called("dot")) and any(c in inside for c in view.own.called("load")):
            return True
    return False


def _in_kernel(node: ast.expr) -> bool:
    """A number above one; a parameter or an expression is there to be set."""
    return not isinstance(node, ast.Constant) or (isinstance(node.value, int) and node.value > 1)


def _tuned(view: KernelView) -> list[ast.expr]:
    """The first place in the autotuner's list that asks for more than one stage."""
    tuner = view.kernel.autotune
    if tuner is None or not any(isinstance(n, ast.For | ast.While) for body in view.bodies for n in body.nodes):
        return []
    configs = next((k.value for k in tuner.keywords if k.arg == "configs"), tuner.args[0] if tuner.args else None)
    return [tuner] if configs is not None and any(n > 1 for n in _stages(view.module, configs, _DEPTH)) else []


def _stages(module: Module, node: ast.expr, depth: int) -> Iterator[int]:
    """Numbers of stages in every Config that an expression builds."""
    loops = {
        name: over
        for g in ast.walk(node)
        if isinstance(g, ast.ListComp | ast.GeneratorExp)
        for c in g.generators
        for name, over in _ranges(c.target, c.iter)
    }
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and _name(part.func) == "Config":
            for keyword in part.keywords:
                if keyword.arg == "num_stages":
                    over = loops.get(keyword.value.id) if isinstance(keyword.value, ast.Name) else None
                    yield from _numbers(module, over if over is not None else keyword.value, depth)
        elif depth and isinstance(part, ast.Name) and part.id in module.names.constants:
            for value in module.names.constants[part.id]:
                yield from _stages(module, value, depth - 1)
        elif depth and isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            for definition in module.names.functions.get(part.func.id, ()):
                yield from _from_function(module, definition, depth - 1)


def _ranges(target: ast.expr, over: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """What each name of a loop's target ranges over: `for (m, n), s in product([(64, 64), (128, 64)], [3, 4])`."""
    if isinstance(target, ast.Name):
        yield target.id, over
    elif isinstance(target, ast.Tuple | ast.List):
        columns: list[ast.expr] | None = None
        if isinstance(over, ast.Call) and _name(over.func) in ("product", "zip"):
            columns = list(over.args)
        elif isinstance(over, ast.List | ast.Tuple) and all(
            isinstance(row, ast.Tuple | ast.List) and len(row.elts) == len(target.elts) for row in over.elts
        ):
            rows = [row.elts for row in over.elts if isinstance(row, ast.Tuple | ast.List)]
            columns = [ast.List(elts=[row[i] for row in rows], ctx=ast.Load()) for i in range(len(target.elts))]
        for i, part in enumerate(target.elts):
            column = columns[i] if columns is not None and i < len(columns) else over
            yield from _ranges(part, column)


def _from_function(module: Module, definition: ast.FunctionDef, depth: int) -> Iterator[int]:
    """Stages in the Configs that a helper function makes; loops of the function give its names their values."""
    loops = {
        name: over for f in ast.walk(definition) if isinstance(f, ast.For) for name, over in _ranges(f.target, f.iter)
    }
    for call in ast.walk(definition):
        if isinstance(call, ast.Call) and _name(call.func) == "Config":
            for keyword in call.keywords:
                if keyword.arg == "num_stages":
                    over = loops.get(keyword.value.id) if isinstance(keyword.value, ast.Name) else None
                    yield from _numbers(module, over if over is not None else keyword.value, depth)
    for node in ast.walk(definition):
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            yield from _stages(module, node, 0)


def _name(function: ast.expr) -> str:
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _numbers(module: Module, node: ast.expr, depth: int) -> Iterator[int]:
    """The whole numbers that a host expression may be, or may range over."""
    match node:
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=int() as number):
            yield number
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            for part in parts:
                yield from _numbers(module, part, depth)
        case ast.IfExp(body=a, orelse=b) | ast.BinOp(left=a, op=ast.Add(), right=b):
            yield from _numbers(module, a, depth)
            yield from _numbers(module, b, depth)
        case ast.Call(func=ast.Name(id="range"), args=args) if args and all(isinstance(a, ast.Constant) for a in args):
            yield from range(*(int(a.value) for a in args if isinstance(a, ast.Constant) and isinstance(a.value, int)))
        case ast.Name(id=name) if depth:
            for binding in reaching(module.source, name, node):
                if binding.value is not None and binding.kind in ("assign", "unpack", "parameter"):
                    value = binding.value
                    if binding.kind == "unpack":
                        continue
                    yield from _numbers(module, value, depth - 1)


DETECTOR = Detector("pipeline_loads", _uses)
