"""elide_masks. Used: a branch known at compile time loads without a tail mask where the block divides the dimension.
Symptom: a product loop over a run-time dimension masks its tail in every round, with no such branch."""

from __future__ import annotations

import ast

from ..analysis.syntax import is_constexpr_test
from .base import Detector, Seen
from .trace import sources_of, unwrapped
from .view import KernelView


def _uses(view: KernelView) -> list[Seen]:
    found = []
    for node in view.own.nodes:
        if not isinstance(node, ast.If) or not node.orelse or not is_constexpr_test(node.test, view.kernel.constexprs):
            continue
        masks = [_masks(view, arm) for arm in (node.body, node.orelse)]
        for address in masks[0].keys() & masks[1].keys():
            if masks[0][address] < masks[1][address] or masks[1][address] < masks[0][address]:
                found.append(Seen(node.lineno, "a compile-time branch drops the tail mask"))
    return found or _peeled(view)


def _peeled(view: KernelView) -> list[Seen]:
    """A product loop over whole blocks, and after it the tail once: the same loads with one mask more."""
    dots = view.own.called("dot")
    found = []
    for loop in view.loops if len(dots) > 1 else ():
        inside = set(ast.walk(loop))
        after = [s for s in _following(view, loop) if not isinstance(s, ast.For | ast.While)]
        later = {n for s in after for n in ast.walk(s)}
        if not inside.isdisjoint(dots) and not later.isdisjoint(dots):
            whole, tail = _masks(view, [loop]), _masks(view, after)
            if any(key.startswith("load") and whole[key] < tail[key] for key in whole.keys() & tail.keys()):
                found.append(
                    Seen(after[0].lineno, "the tail of the product loop is peeled, and whole blocks go unmasked")
                )
    return found


def _following(view: KernelView, loop: ast.stmt) -> list[ast.stmt]:
    """Statements after a loop in its block."""
    parent = view.flow.parents.get(loop)
    for field in ("body", "orelse"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and any(s is loop for s in block):
            return block[next(i for i, s in enumerate(block) if s is loop) + 1 :]
    return []


def _masks(view: KernelView, arm: list[ast.stmt]) -> dict[str, frozenset[str]]:
    """Conjuncts of the mask of every access directly in an arm, by its address."""
    found: dict[str, frozenset[str]] = {}
    inside = {n for s in arm for n in ast.walk(s)}
    for call in view.own.called("load", "store"):
        if call in inside and call.args and view.is_block(call.args[0]):
            mask = next((k.value for k in call.keywords if k.arg == "mask"), None)
            found[f"{view.operation(call)} {ast.unparse(call.args[0])}"] = frozenset(_conjuncts(mask))
    return found


def _conjuncts(mask: ast.expr | None) -> list[str]:
    if mask is None:
        return []
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
        return [*_conjuncts(mask.left), *_conjuncts(mask.right)]
    return [ast.unparse(mask)]


def _opportunities(view: KernelView) -> list[Seen]:
    if _uses(view):
        return []
    found = []
    dots = set(view.own.called("dot"))
    for loop in view.loops:
        inside = set(ast.walk(loop))
        if not isinstance(loop, ast.For) or not dots & inside:
            continue
        for call in view.own.called("load"):
            mask = next((k.value for k in call.keywords if k.arg == "mask"), None)
            if call in inside and mask is not None and (node := _tail(view, loop, mask)) is not None:
                found.append(Seen(node.lineno, "every round of the product loop masks the tail of its dimension"))
    return found


def _tail(view: KernelView, loop: ast.For, mask: ast.expr) -> ast.Compare | None:
    """`offsets < K - k * BLOCK` in a loop over k, for a parameter K."""
    for node in ast.walk(mask):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Lt):
            continue
        right = unwrapped(view.own, node.comparators[0])
        if (
            isinstance(right, ast.BinOp)
            and isinstance(right.op, ast.Sub)
            and isinstance(right.left, ast.Name)
            and right.left.id in view.kernel.parameter_names
            and _reads_variable(view, loop, right.right)
        ):
            return node
    return None


def _reads_variable(view: KernelView, loop: ast.For, node: ast.expr) -> bool:
    return any(
        isinstance(n, ast.Name)
        and (d := view.flow.reaching.get(n)) is not None
        and d.kind == "loop"
        and d.statement is loop
        for n in sources_of(view, node)
    )


DETECTOR = Detector("elide_masks", _uses, _opportunities)
