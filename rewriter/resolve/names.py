"""What a module's names stand for: imports, aliases and constants, resolved to dotted names.

`tl`, `import triton.language as T`, `from triton.language import arange` and `exp = tl.exp` at module level all
resolve to `triton.language...`, so that nothing later depends on spelling.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

MATH_SUBMODULES = (
    "triton.language.math",
    "triton.language.extra.libdevice",
    "triton.language.extra.cuda.libdevice",
    "triton.language.standard",
    "triton.language.core",
)


UNKNOWN: ast.expr = ast.Set(elts=[])
"""Stands for a value that is not read."""


@dataclass(frozen=True)
class ModuleNames:
    """Bindings at module level (also inside module-level `if` and `try`)."""

    imported: dict[str, str] = field(default_factory=dict)
    """Name to dotted name, for imports and plain aliases of imports."""
    functions: dict[str, list[ast.FunctionDef]] = field(default_factory=dict)
    """Every definition of a function name at module level, in order; several where an `if` chooses one."""
    constants: dict[str, list[ast.expr]] = field(default_factory=dict)
    """Every value assigned to a name at module level, in order; UNKNOWN for what a loop, an unpacking, an update, a
    walrus, an import or a function's `global` gives it."""

    def dotted(self, node: ast.expr) -> str | None:
        """Dotted name of a Name or Attribute chain: `tl.sum` -> `triton.language.sum`; None where it is none."""
        if isinstance(node, ast.Name):
            return self.imported.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return None if base is None else canonical(f"{base}.{node.attr}")
        return None

    def triton_name(self, node: ast.expr) -> str | None:
        """`arange` for what resolves to `triton.language.arange` (or a math submodule of it); else None."""
        dotted = self.dotted(node)
        if dotted is None or not dotted.startswith("triton.language."):
            return None
        return dotted.removeprefix("triton.language.")


def canonical(dotted: str) -> str:
    """Fold submodules that re-export language functions: `triton.language.math.exp` -> `triton.language.exp`."""
    for submodule in MATH_SUBMODULES:
        if dotted.startswith(submodule + ".") and "libdevice" not in submodule:
            return "triton.language." + dotted.removeprefix(submodule + ".")
    return dotted


def module_names(tree: ast.Module) -> ModuleNames:
    """Collect the module-level bindings of a file."""
    names = ModuleNames()
    _collect(tree.body, names)
    for statement in (n for n in ast.walk(tree) if isinstance(n, ast.Global)):
        for name in statement.names:
            _unknown(name, names)
    return names


def _collect(body: list[ast.stmt], names: ModuleNames) -> None:
    for statement in body:
        match statement:
            case ast.Import():
                for alias in statement.names:
                    bound = alias.asname or alias.name.split(".")[0]
                    _imported(bound, alias.name if alias.asname else bound, names)
            case ast.ImportFrom():
                module = "." * statement.level + (statement.module or "")
                for alias in statement.names:
                    _imported(alias.asname or alias.name, canonical(f"{module}.{alias.name}"), names)
            case ast.FunctionDef():
                names.functions.setdefault(statement.name, []).append(statement)
                names.imported.pop(statement.name, None)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                _bind(name, value, names)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                _bind(name, value, names)
            case ast.If():
                _collect(statement.body, names)
                _collect(statement.orelse, names)
            case ast.Try():
                _collect(statement.body, names)
                for handler in statement.handlers:
                    _collect(handler.body, names)
                _collect(statement.orelse, names)
                _collect(statement.finalbody, names)
            case ast.With():
                _collect(statement.body, names)
            case _:
                pass
        _collect_others(statement, names)


def _collect_others(statement: ast.stmt, names: ModuleNames) -> None:
    """Names that a statement of the module sets otherwise than by `NAME = value`."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Assign(targets=[ast.Name()]):
            targets: list[ast.AST] = []
        case ast.Assign(targets=several):
            targets = list(several)
        case ast.AugAssign(target=target):
            targets = [target]
        case ast.For(target=target, body=body, orelse=orelse):
            targets = [target]
            _collect_unknown([*body, *orelse], names)
        case ast.While(body=body, orelse=orelse):
            targets = []
            _collect_unknown([*body, *orelse], names)
        case ast.With(items=items):
            targets = [i.optional_vars for i in items if i.optional_vars is not None]
        case _:
            targets = []
    own = [n for n in ast.iter_child_nodes(statement) if isinstance(n, (ast.expr, ast.withitem))]
    targets += [n.target for part in own for n in ast.walk(part) if isinstance(n, ast.NamedExpr)]
    for one in targets:
        _unknown_targets(one, names)


def _collect_unknown(body: list[ast.stmt], names: ModuleNames) -> None:
    """What a loop of the module sets has a value of each round."""
    for statement in body:
        _unknown_targets(statement, names)


def _unknown_targets(node: ast.AST, names: ModuleNames) -> None:
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            _unknown(n.id, names)


def _unknown(name: str, names: ModuleNames) -> None:
    names.constants.setdefault(name, []).append(UNKNOWN)
    names.imported.pop(name, None)


def _imported(name: str, dotted: str, names: ModuleNames) -> None:
    if name in names.constants:
        names.constants[name].append(UNKNOWN)
    names.imported[name] = dotted


def _bind(name: str, value: ast.expr, names: ModuleNames) -> None:
    dotted = names.dotted(value)
    if dotted is None and name in names.imported:
        names.constants.setdefault(name, []).append(UNKNOWN)
    names.constants.setdefault(name, []).append(value)
    if dotted is not None:
        names.imported[name] = dotted
    else:
        names.imported.pop(name, None)
