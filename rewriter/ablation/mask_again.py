"""mask_again: where a constexpr chooses between accesses without a mask and the same with one, those with one.

rewrite:  if EVEN_K:                     ->  if False:
              x = tl.load(p)                     x = tl.load(p)
          else:                              else:
              x = tl.load(p, mask=m)             x = tl.load(p, mask=m)

Conditions
    - the branch tests a constexpr parameter, plain or negated;
    - its arms are the same statements but for masks, and the one is masked by all that the other is, and by more;
    - the parameter is read by such branches only: one that also chooses pointers or shapes says more than that the
      tiles are even.

Numerics
    `bitwise`: the mask is true wherever the other arm was meant to run.

Refuses: pattern_not_found, unknown_construct (the parameter is read elsewhere too).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from skel.store.schema import NumericsClass

from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..primitives.base import Primitive
from ..reasons import Refuse, refuse
from .base import not_there

_MASKS = ("mask", "boundary_check")
_MASKING = (*_MASKS, "other", "padding_option")
_PLAIN = {"load": 1, "store": 2}
"""Arguments before the mask."""


def mask_again(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that make every such branch take its masked arm. Raises Refuse."""
    edits: list[Edit] = []
    refused: Refuse | None = None
    for name in sorted(kernel.constexprs):
        reads = [n for s in kernel.node.body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name]
        masking = {read: masked for read in reads if (masked := _masked_arm(module, read)) is not None}
        odd = [read for read in reads if read not in masking]
        if masking and odd:
            refused = refuse("unknown_construct", odd[0], construct=f"another use of {name}")
        elif masking:
            edits += [Edit(*module.source.span(branch.test), str(first)) for branch, first in masking.values()]
    if not edits:
        raise refused or not_there(kernel, "elide_masks")
    return edits


def _masked_arm(module: Module, read: ast.Name) -> tuple[ast.If, bool] | None:
    """The branch that this name decides, and whether its first arm is the masked one; None where it does not fit."""
    parents = module.source.parents
    test: ast.AST = read
    if isinstance(parents[test], ast.UnaryOp):
        test = parents[test]
    branch = parents[test]
    if not isinstance(branch, ast.If) or branch.test is not test or not branch.orelse:
        return None
    (body, first), (other, second) = _without_masks(branch.body), _without_masks(branch.orelse)
    if body != other or first == second:
        return None
    if all(more >= less for more, less in zip(first, second, strict=True)):
        return branch, True
    return (branch, False) if all(more >= less for more, less in zip(second, first, strict=True)) else None


def _without_masks(statements: list[ast.stmt]) -> tuple[str, list[frozenset[str]]]:
    """The statements with the masks of their accesses taken out, and what each access was masked by."""
    masks: list[frozenset[str]] = []
    held = copy.deepcopy(statements)
    for call in (n for s in held for n in ast.walk(s) if isinstance(n, ast.Call)):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PLAIN:
            plain = _PLAIN[call.func.attr]
            own = [*call.args[plain : plain + 1], *(k.value for k in call.keywords if k.arg in _MASKS)]
            masks.append(frozenset(part for mask in own for part in _conjuncts(mask)))
            call.args, call.keywords = call.args[:plain], [k for k in call.keywords if k.arg not in _MASKING]
    return "\n".join(ast.dump(s) for s in held), masks


def _conjuncts(mask: ast.expr) -> Iterator[str]:
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
        yield from _conjuncts(mask.left)
        yield from _conjuncts(mask.right)
    else:
        yield ast.dump(mask)


PRIMITIVE = Primitive("mask_again", mask_again, NumericsClass.BITWISE)
