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


@dataclass(frozen=True)
class ModuleNames:
    """Bindings at module level (also inside module-level `if` and `try`)."""

    imported: dict[str, str] = field(default_factory=dict)
    """Name to dotted name, for imports and plain aliases of imports."""
    functions: dict[str, list[ast.FunctionDef]] = field(default_factory=dict)
    """Every definition of a function name at module level, in order; several where an `if` chooses one."""
    constants: dict[str, list[ast.expr]] = field(default_factory=dict)
    """Every value assigned to a name at module level, in order."""

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
    return names


def _collect(body: list[ast.stmt], names: ModuleNames) -> None:
    for statement in body:
        match statement:
            case ast.Import():
                for alias in statement.names:
                    bound = alias.asname or alias.name.split(".")[0]
                    names.imported[bound] = alias.name if alias.asname else bound
            case ast.ImportFrom():
                module = "." * statement.level + (statement.module or "")
                for alias in statement.names:
                    names.imported[alias.asname or alias.name] = canonical(f"{module}.{alias.name}")
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
                continue


def _bind(name: str, value: ast.expr, names: ModuleNames) -> None:
    names.constants.setdefault(name, []).append(value)
    dotted = names.dotted(value)
    if dotted is not None:
        names.imported[name] = dotted
    else:
        names.imported.pop(name, None)
