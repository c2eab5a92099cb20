"""Kernels: `@triton.jit` functions with their parameters, decorators and kind."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..reasons import refuse
from ..resolve.names import ModuleNames, module_names
from .source import SourceFile, read_source

JIT = frozenset({"triton.jit", "triton.runtime.jit", "triton.runtime.jit.jit"})
AUTOTUNE = frozenset({"triton.autotune", "triton.runtime.autotuner.autotune"})
HEURISTICS = frozenset({"triton.heuristics", "triton.runtime.autotuner.heuristics"})
CONSTEXPR = frozenset({"triton.language.constexpr", "triton.language.core.constexpr"})


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel."""

    name: str
    node: ast.arg
    is_constexpr: bool
    default: ast.expr | None


@dataclass(frozen=True, eq=False)
class KernelDef:
    """A `@triton.jit` function and what its decorators say."""

    name: str
    node: ast.FunctionDef
    parameters: tuple[Parameter, ...]
    jit: ast.expr
    """The jit decorator itself; a Call where it has options."""
    autotune: ast.Call | None
    heuristics: tuple[ast.Call, ...]
    other_decorators: tuple[ast.expr, ...]
    is_entry: bool
    """True where the body reads `program_id` itself (helpers decide by being launched)."""

    @cached_property
    def constexprs(self) -> frozenset[str]:
        """Names of the constexpr parameters."""
        return frozenset(p.name for p in self.parameters if p.is_constexpr)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, or None."""
        return next((p for p in self.parameters if p.name == name), None)


@dataclass(frozen=True, eq=False)
class Module:
    """A file with its names and its kernels, nested ones included."""

    source: SourceFile
    names: ModuleNames
    kernels: tuple[KernelDef, ...]

    def kernels_named(self, name: str) -> tuple[KernelDef, ...]:
        """Every kernel of that name: several where an `if` chooses one."""
        return tuple(k for k in self.kernels if k.name == name)

    @property
    def entry_kernels(self) -> tuple[KernelDef, ...]:
        return tuple(k for k in self.kernels if k.is_entry)


@lru_cache(maxsize=64)
def load_module(text: str, path: str) -> Module:
    """The module in a text; the last few are remembered, since a schedule reads the same texts again.

    Raises Refuse(`unparsable`).
    """
    return read_module(read_source(text, path))


def read_module(source: SourceFile) -> Module:
    """Names and kernels of a file."""
    names = module_names(source.tree)
    kernels = tuple(
        k
        for node in source.parents
        if isinstance(node, ast.FunctionDef)
        for k in [_kernel(node, names)]
        if k is not None
    )
    return Module(source, names, tuple(sorted(kernels, key=lambda k: k.node.lineno)))


def choose_kernel(module: Module, name: str | None) -> KernelDef:
    """The kernel called `name`. Raises Refuse where there is none, or two of that name."""
    path = module.source.path
    if not module.kernels:
        raise refuse("no_kernel", file=path)
    have = ", ".join(dict.fromkeys(k.name for k in module.kernels))
    found = module.kernels_named(name) if name else ()
    if not found:
        raise refuse("unknown_kernel", file=path, kernel=name, have=have)
    if len(found) > 1:
        raise refuse(
            "unknown_construct", found[1].node, also=[found[0].node], construct=f"a second definition of {name}"
        )
    hidden = _hidden_names(module, found[0].node)
    if hidden:
        why = f"a name of the module that the function around the kernel sets too ({hidden[0].id})"
        raise refuse("unknown_construct", hidden[0], construct=why)
    return found[0]


def _hidden_names(module: Module, node: ast.FunctionDef) -> list[ast.Name]:
    """Names that the kernel reads of the function around it, while the module has others of that name."""
    known = module.names.imported.keys() | module.names.constants.keys() | module.names.functions.keys()
    around: ast.AST | None = module.source.parents.get(node)
    inner = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    inner |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    while around is not None:
        if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef):
            own = {n.id for n in ast.walk(around) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            own |= {n.arg for n in ast.walk(around.args) if isinstance(n, ast.arg)}
            own |= {s.name for s in around.body if isinstance(s, ast.FunctionDef | ast.ClassDef) and s is not node}
            read = [n for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name)]
            found = [n for n in read if n.id in (own & known) - inner]
            if found:
                return found
        around = module.source.parents.get(around)
    return []


def _kernel(node: ast.FunctionDef, names: ModuleNames) -> KernelDef | None:
    jit: ast.expr | None = None
    autotune: ast.Call | None = None
    heuristics: list[ast.Call] = []
    others: list[ast.expr] = []
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        dotted = names.dotted(target)
        if dotted in JIT:
            jit = decorator
        elif isinstance(decorator, ast.Call) and (dotted in AUTOTUNE or _is_autotune_wrapper(target)):
            autotune = decorator
        elif isinstance(decorator, ast.Call) and dotted in HEURISTICS:
            heuristics.append(decorator)
        else:
            others.append(decorator)
    if jit is None:
        return None
    return KernelDef(
        node.name,
        node,
        _parameters(node, names),
        jit,
        autotune,
        tuple(heuristics),
        tuple(others),
        _reads_program_id(node, names),
    )


def _is_autotune_wrapper(target: ast.expr) -> bool:
    """Libraries wrap `triton.autotune` to cache its choice (`fla_cache_autotune`); such a decorator tunes as well."""
    name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    return "autotune" in name


def _parameters(node: ast.FunctionDef, names: ModuleNames) -> tuple[Parameter, ...]:
    positional = [*node.args.posonlyargs, *node.args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(node.args.defaults))
    defaults += node.args.defaults
    pairs = [*zip(positional, defaults, strict=True), *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
    return tuple(Parameter(a.arg, a, _is_constexpr(a.annotation, names), d) for a, d in pairs)


def _is_constexpr(annotation: ast.expr | None, names: ModuleNames) -> bool:
    if annotation is None:
        return False
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.split(".")[-1] == "constexpr"
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    return names.dotted(annotation) in CONSTEXPR


def _reads_program_id(node: ast.FunctionDef, names: ModuleNames) -> bool:
    return any(isinstance(n, ast.Call) and names.triton_name(n.func) == "program_id" for n in ast.walk(node))
