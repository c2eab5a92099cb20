"""Names of Triton's language that a module keeps, made to work in the interpreter.

`exp = tl.exp` at module level keeps the function that only the compiler can call; the interpreter puts another into
`tl` while a kernel runs, which such a name misses. Here the name looks the function up when it is called.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any


def bind_late(module: ModuleType) -> None:
    """In an interpreting process, makes every global of the module that is a builtin of the language late-bound."""
    if os.environ.get("TRITON_INTERPRET") != "1":
        return
    import triton.language as tl

    for name, value in list(vars(module).items()):
        own = str(getattr(value, "__name__", ""))
        if getattr(value, "__triton_builtin__", False) and getattr(tl, own, None) is value:
            setattr(module, name, _late(tl, own))


def _late(language: ModuleType, name: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(language, name)(*args, **kwargs)

    call.__name__ = name
    return call
