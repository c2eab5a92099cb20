"""Primitives on kernels given as text or as files: rewrite, compare with the golden file, or name the refusal."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from skel.rewriter.kernel.definition import KernelDef, Module, read_module
from skel.rewriter.kernel.edits import apply_edits
from skel.rewriter.kernel.source import read_source
from skel.rewriter.reasons import Refuse
from skel.store.schema import Refusal

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"


def kernel_of(text: str, path: str = "case.py", name: str | None = None) -> tuple[Module, KernelDef]:
    """The module and its entry kernel: the only one, or the only one of that name."""
    module = read_module(read_source(text, path))
    (kernel,) = (k for k in module.entry_kernels if name in (None, k.name))
    return module, kernel


def rewritten(primitive: str, text: str, path: str = "case.py", name: str | None = None, **arguments: Any) -> str:
    """The text after a primitive; what it gives must parse. Raises Refuse."""
    apply = import_module(f"skel.rewriter.primitives.{primitive}").PRIMITIVE.apply
    module, kernel = kernel_of(text, path, name)
    after = apply_edits(text, apply(module, kernel, **arguments))
    ast.parse(after)
    return after


@pytest.fixture
def rewrite() -> Callable[..., list[str]]:
    """`rewrite(primitive, body)`: the lines that change in a kernel of that body, as they are afterwards, stripped."""

    def run(primitive: str, body: str, **arguments: Any) -> list[str]:
        text = body if body.startswith("import") else HEAD + body
        before = text.splitlines()
        return [line.strip() for line in rewritten(primitive, text, **arguments).splitlines() if line not in before]

    return run


@pytest.fixture
def refusal() -> Callable[..., Refusal]:
    """`refusal(primitive, body)`: what the primitive says; fails where it rewrites. Lines count from the `def`."""

    def run(primitive: str, body: str, **arguments: Any) -> Refusal:
        text = body if body.startswith("import") else HEAD + body
        with pytest.raises(Refuse) as caught:
            rewritten(primitive, text, **arguments)
        return caught.value.refusal

    return run


@pytest.fixture
def assert_golden() -> Callable[..., None]:
    """`assert_golden(primitive, before, after)`: the file rewritten is the golden file, and refuses a second time.

    With UPDATE_GOLDEN set, the golden file is written instead; review it as a diff.
    """

    def check(primitive: str, before: Path, after: Path, **arguments: Any) -> None:
        original = before.read_text(encoding="utf-8")
        text = rewritten(primitive, original, str(before), **arguments)
        if os.environ.get("UPDATE_GOLDEN"):
            after.write_text(text, encoding="utf-8")
        assert text == after.read_text(encoding="utf-8")
        with pytest.raises(Refuse):
            rewritten(primitive, text, str(after), kernel_of(original)[1].name, **arguments)

    return check
