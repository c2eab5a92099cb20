"""loop_count: how often a loop of a kernel runs, written from the kernel's parameters, and the same at a launch."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from ..analysis.flow import Flow
from ..analysis.operators import operation
from ..kernel.definition import Module
from ..kernel.grid import GridChoice, meta_function
from ..kernel.idioms import ceiling_text
from ..kernel.launch import Launch
from ..kernel.plain import is_plain, written
from ..kernel.scope import reaching
from ..reasons import refuse

_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


@dataclass(frozen=True)
class LoopCount:
    """`for NAME in range(0, limit, step)`; the step is None where it is one."""

    loop: ast.For
    name: str
    limit: ast.expr
    step: ast.expr | None


def counted_loop(module: Module, flow: Flow, loop: ast.For) -> LoopCount:
    """The loop's parts. Raises Refuse(loop_bound_unknown)."""
    call = loop.iter
    if not isinstance(call, ast.Call) or operation(module, flow, call) not in ("range", None) or not _is_range(call):
        raise _unknown(loop, "it runs over no range")
    if not isinstance(loop.target, ast.Name) or loop.orelse:
        raise _unknown(loop, "it has no single variable, or an else")
    arguments = call.args
    if any(isinstance(a, ast.Starred) for a in arguments) or not arguments:
        raise _unknown(loop, "its range is unpacked")
    if len(arguments) == 1:
        return LoopCount(loop, loop.target.id, arguments[0], None)
    if not (isinstance(arguments[0], ast.Constant) and arguments[0].value == 0):
        raise _unknown(loop, "it does not start at 0")
    step = arguments[2] if len(arguments) == 3 else None
    return LoopCount(loop, loop.target.id, arguments[1], step)


def _is_range(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name == "range"


class CountWriter:
    """Writes a count in the kernel's own words, or at a launch. Both raise Refuse(loop_bound_unknown)."""

    def __init__(self, module: Module, flow: Flow, count: LoopCount, language: str) -> None:
        self.module, self.flow, self.count, self.language = module, flow, count, language

    def in_kernel(self) -> str:
        """From parameters that the kernel never sets again."""
        return self._whole(self._parameter, lambda a, b: f"{self.language}.cdiv({a}, {b})")

    def at_launch(self, launch: Launch, choice: GridChoice) -> str:
        """From the arguments of a launch; sizes that the autotuner chooses from the grid function's argument."""

        def leaf(node: ast.Name) -> str:
            self._parameter(node)
            return self._argument(launch, choice, node)

        return self._whole(leaf, lambda a, b: ceiling_text(self.module, a, b, launch.call))

    def _whole(self, leaf: Callable[[ast.Name], str], cdiv: Callable[[str, str], str]) -> str:
        limit = self._text(self.count.limit, leaf, cdiv)
        return limit if self.count.step is None else cdiv(limit, self._text(self.count.step, leaf, cdiv))

    def _text(self, node: ast.expr, leaf: Callable[[ast.Name], str], cdiv: Callable[[str, str], str]) -> str:
        match node:
            case ast.Constant(value=int() as value) if type(value) is int and value > 0:
                return str(value)
            case ast.Name():
                made = self.flow.reaching.get(node)
                if made is not None and made.kind == "assign" and made.value is not None and not made.loops:
                    return self._text(made.value, leaf, cdiv)
                return leaf(node)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                a, b = self._text(left, leaf, cdiv), self._text(right, leaf, cdiv)
                return f"({a} {_OPERATORS[type(op)]} {b})"
            case ast.Call(args=[above, below], keywords=[]) if operation(self.module, self.flow, node) == "cdiv":
                return cdiv(self._text(above, leaf, cdiv), self._text(below, leaf, cdiv))
        raise _unknown(self.count.loop, f"`{ast.unparse(node)}` is known in the kernel only")

    def _parameter(self, node: ast.Name) -> str:
        made = self.flow.reaching.get(node)
        if made is None or made.kind != "parameter":
            raise _unknown(self.count.loop, f"{node.id} is no parameter, or is set again")
        return node.id

    def _argument(self, launch: Launch, choice: GridChoice, node: ast.Name) -> str:
        argument = launch.arguments.get(node.id)
        if argument is None and choice.meta is not None:
            return f'{choice.meta}["{node.id}"]'
        if argument is None or not is_plain(self.module, argument):
            raise _unknown(self.count.loop, f"the argument {node.id} is not written plainly at line {launch.line}")
        source, around = self.module.source, meta_function(self.module, choice.node)
        site = launch.call if choice.meta is not None and around is not None else None
        for name in (n for n in ast.walk(argument) if isinstance(n, ast.Name)):
            here = reaching(source, name.id, choice.node, site)
            if set(here) != set(reaching(source, name.id, launch.call)):
                raise _unknown(self.count.loop, f"{name.id} is another where the grid of line {launch.line} is made")
        text = written(self.module, argument)
        return f"({text})" if isinstance(argument, (ast.BinOp, ast.UnaryOp, ast.IfExp)) else text


def _unknown(loop: ast.For, why: str) -> Exception:
    return refuse("loop_bound_unknown", loop, why=why)
