"""specialize_again: the compiler may assume again what it sees of every integer: that it is 1, or divisible by 16.

rewrite:  @triton.jit(do_not_specialize=["T"])  ->  @triton.jit()

What it gains a launch is measured; what the technique is there for, fewer compilations, is not.

Numerics
    `contracted`: other assumptions, other code for the same operations.

Refuses: pattern_not_found, unknown_construct.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..primitives.base import Primitive
from .base import not_there, removed_keywords

_OPTIONS = ("do_not_specialize", "do_not_specialize_on_alignment")


def specialize_again(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that take these options out of the kernel's decorator. Raises Refuse."""
    jit = kernel.jit
    options = [k for k in jit.keywords if k.arg in _OPTIONS] if isinstance(jit, ast.Call) else []
    if not options:
        raise not_there(kernel, "relax_specialization")
    assert isinstance(jit, ast.Call)
    return removed_keywords(module.source, jit, options)


PRIMITIVE = Primitive("specialize_again", specialize_again, NumericsClass.CONTRACTED)
