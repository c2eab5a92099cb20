"""Calls public operators on small random tensors, forwards and backwards; one that fails or takes long is left out.

Made for scripts under `skel capture` with TRITON_INTERPRET=1. Nothing of skel is imported here.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import signal
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import torch
from triton.runtime.autotuner import Autotuner

SECONDS = 60
"""CPU time of one call with its backward pass."""
B, H, D = 1, 2, 32
LONG, SHORT = 80, 6
"""Steps: of operators in chunks of 64, with a tail; and of those that walk one by one."""


def first_configuration_only() -> None:
    """Autotuners take their first configuration: there is nothing to time in the interpreter."""
    made = Autotuner.__init__

    def init(self: Any, fn: Any, arg_names: Any, configs: Any, *rest: Any, **more: Any) -> None:
        made(self, fn, arg_names, configs[:1], *rest, **more)

    Autotuner.__init__ = init


def loop_variables_are_tensors() -> None:
    """Variables of loops are tensors in the interpreter too, as they are when a kernel is compiled.

    FLA calls their methods (`i_t.to(tl.int64)`), which plain numbers do not have.
    """
    from triton.runtime import interpreter

    class Transformer(interpreter.ASTTransformer):  # type: ignore[misc]
        def visit_For(self, node: ast.For) -> ast.For:
            self.generic_visit(node)
            looked = node.iter.func if isinstance(node.iter, ast.Call) else None
            name = (
                looked.attr if isinstance(looked, ast.Attribute) else looked.id if isinstance(looked, ast.Name) else ""
            )
            if isinstance(node.target, ast.Name) and name == "range":
                to_tensor = ast.Attribute(ast.Name("interpreter_semantic", ast.Load()), "to_tensor", ast.Load())
                value = ast.Call(to_tensor, [ast.Name(node.target.id, ast.Load()), ast.Constant(False)], [])
                node.body.insert(0, ast.Assign([ast.Name(node.target.id, ast.Store())], value))
            return node

    interpreter.FunctionRewriter.ast_transformer = Transformer()


def prepare() -> None:
    """What every script and every replay needs before a package is imported."""
    first_configuration_only()
    loop_variables_are_tensors()


def tensor(kind: str, steps: int, heads: int = H, dim: int = D) -> torch.Tensor:
    """A random tensor by its kind, one letter for what it is and what it looks like."""
    shape = (B, steps, heads)
    if kind == "x":  # a head's vector
        return torch.randn(*shape, dim)
    if kind == "n":  # the same, of length one
        return torch.nn.functional.normalize(torch.randn(*shape, dim), dim=-1)
    if kind == "g":  # a gate below zero, one a head
        return -0.1 * torch.rand(shape)
    if kind == "G":  # the same, one an element
        return -0.1 * torch.rand(*shape, dim)
    if kind == "b":  # between zero and one
        return torch.rand(shape)
    if kind == "W":  # between zero and one, one an element
        return torch.rand(*shape, dim)
    if kind == "h":  # one a head
        return torch.randn(heads)
    if kind == "u":  # a vector for each head
        return torch.randn(heads, dim)
    if kind == "d":  # a vector
        return torch.rand(dim) + 0.5
    if kind == "S":  # a state
        return 0.1 * torch.randn(B, heads, dim, dim)
    raise ValueError(kind)


def call(target: str, letters: Mapping[str, str], steps: int, /, half: bool = False, **more: Any) -> None:
    """`package.module.function` with tensors of the given kinds and other arguments, then its backward pass.

    `half`: in half precision, of operators that take no other.
    """
    module, _, name = target.rpartition(".")
    torch.manual_seed(0)

    def run() -> None:
        function = getattr(importlib.import_module(module), name)
        tensors = {key: tensor(kind, steps) for key, kind in letters.items()}
        if half:
            tensors = {key: one.half() for key, one in tensors.items()}
        attempt(function, tensors, more)

    guarded(target + (f" {sorted(more)}" if more else ""), run)


def attempt(function: Callable[..., Any], tensors: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Calls with gradients where the function takes part in autograd."""
    for one in tensors.values():
        if one.is_floating_point():
            one.requires_grad_()
    given = {**tensors, **{k: v() if inspect.isfunction(v) else v for k, v in more.items()}}
    # The `apply` of an autograd function takes no names.
    named = not isinstance(getattr(function, "__self__", None), type)
    backward(function(**given) if named else function(*given.values()))


def backward(result: Any) -> None:
    """The backward pass of everything in a result that has one, with gradients that differ."""
    outputs = result if isinstance(result, tuple | list) else [result]
    found = [o for o in outputs if isinstance(o, torch.Tensor) and o.requires_grad and o.is_floating_point()]
    if found:
        generator = torch.Generator().manual_seed(1)
        with suppress(NotImplementedError):
            torch.autograd.backward(found, [torch.randn(o.shape, generator=generator).to(o.dtype) for o in found])


def guarded(name: str, run: Callable[[], None]) -> None:
    """Runs it, and says what became of it; what it raises is said, and goes no further."""

    def late(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"over {SECONDS} s")

    signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
    except Exception as error:
        print(f"left out {name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
    else:
        print(f"called {name}", file=sys.stderr, flush=True)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
