"""Parameters that share memory: those given the same expression at a launch."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..kernel.definition import Module
from ..kernel.idioms import identity
from ..kernel.launch import Launch


def aliases_of(module: Module, launches: Sequence[Launch]) -> dict[str, str]:
    """Each parameter that shares its argument with an earlier one, and that one."""
    found: dict[str, str] = {}
    for launch in launches:
        seen: dict[object, str] = {}
        for name, argument in launch.arguments.items():
            if isinstance(argument, ast.Constant):
                continue
            key = identity(module, argument)
            if key in seen:
                found[name] = seen[key]
            seen.setdefault(key, name)
    return found
