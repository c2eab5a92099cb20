"""The functions of one file: kernels, host functions, and what stands outside them."""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .canonical import canonical, shape_hash
from .host_facts import host_facts
from .kernel_facts import kernel_facts
from .names import Names
from .statements import Statement, statements_of
from .tokens import dotted


@dataclass(frozen=True, eq=False)
class Function:
    """One function, as the file spells it. Everything else is made only when asked for."""

    name: str
    """Qualified: `Class.method`; a second function of the same name gets `#2`."""
    kind: Literal["kernel", "host", "module"]
    source: str
    """Its lines with its decorators; of `<module>`, what stands outside functions and classes."""
    parameters: tuple[str, ...]
    names: Names

    @property
    def kernel(self) -> bool:
        return self.kind == "kernel"

    @cached_property
    def text(self) -> str:
        """The source without indentation and trailing blanks."""
        return "\n".join(line.strip() for line in self.source.splitlines())

    @cached_property
    def canonical(self) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Module:
        """The canonical tree: of `<module>` a module."""
        tree = ast.parse(textwrap.dedent(self.source) if self.kind != "module" else self.source)
        node = tree if self.kind == "module" else tree.body[0]
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module)
        local = frozenset(self.parameters)
        if isinstance(node, ast.Module):
            return canonical(node, self.names, local, kernel=False)
        if isinstance(node, ast.FunctionDef):
            return canonical(node, self.names, local, kernel=self.kernel)
        return canonical(node, self.names, local, kernel=self.kernel)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the canonical tree."""
        return list(ast.walk(self.canonical))

    @cached_property
    def statements(self) -> list[Statement]:
        return statements_of(self.canonical, kernel=self.kernel)

    @cached_property
    def tokens(self) -> Counter[str]:
        """API tokens of all statements."""
        return sum((s.tokens for s in self.statements), Counter[str]())

    @cached_property
    def facts(self) -> set[str]:
        if self.kernel:
            assert isinstance(self.canonical, ast.FunctionDef | ast.AsyncFunctionDef)
            return kernel_facts(self.canonical, self.nodes)
        return host_facts(self.nodes)

    @cached_property
    def shape(self) -> str:
        """Hash of the canonical form: names, formatting and comments do not count."""
        stored = {n.id for n in self.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return shape_hash((s.text for s in self.statements), stored.union(self.parameters))


def functions_of(text: str) -> dict[str, Function]:
    """Functions of a file by qualified name. Raises SyntaxError, ValueError or RecursionError for a file that is no
    Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    lines = text.splitlines()
    names = Names(tree)
    found: dict[str, Function] = {}
    rest: list[ast.stmt] = []
    _collect(tree.body, "", lines, names, found, rest)
    if rest:
        covered = "\n".join(textwrap.dedent("\n".join(lines[s.lineno - 1 : s.end_lineno])) for s in rest)
        found["<module>"] = Function("<module>", "module", covered, (), names)
    return found


def _collect(
    body: list[ast.stmt], prefix: str, lines: list[str], names: Names, found: dict[str, Function], rest: list[ast.stmt]
) -> None:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                name, number = prefix + node.name, 2
                while name in found:
                    name, number = f"{prefix}{node.name}#{number}", number + 1
                source = "\n".join(lines[start - 1 : node.end_lineno])
                found[name] = Function(name, "kernel" if _is_kernel(node) else "host", source, _parameters(node), names)
            case ast.ClassDef():
                _collect(node.body, f"{prefix}{node.name}.", lines, names, found, rest)
            case ast.If() | ast.Try() | ast.With():
                _collect(node.body, prefix, lines, names, found, rest)
                _collect(getattr(node, "orelse", []), prefix, lines, names, found, rest)
            case ast.Import() | ast.ImportFrom():
                pass
            case _ if not prefix:
                rest.append(node)


def _is_kernel(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = dotted(target)
        if name.rsplit(".", 1)[-1] == "jit" and not name.startswith(("torch.", "numba.", "jax.", "cute.")):
            return True
    return False


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    a = node.args
    return tuple(x.arg for x in [*a.posonlyargs, *a.args, *a.kwonlyargs])
