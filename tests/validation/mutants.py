"""Breaks kernels mechanically: one small fault a variant, of the kinds that a wrong rewrite makes."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """A broken variant: its kind, its kernel, where that is broken (a line of it as text), and the whole file."""

    kind: str
    kernel: str
    where: str
    text: str
    number: int
    """Counted from 1 among the places that read the same."""

    @property
    def name(self) -> str:
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.kind} in {self.kernel}: {self.where}{again}"


def mutants(text: str, kernel: str) -> Iterator[Mutant]:
    """Every variant of every kind, kinds in turn: the first of each, then the second of each."""
    by_kind = [_of_kind(text, kernel, kind, change) for kind, change in KINDS.items()]
    while by_kind:
        for found in list(by_kind):
            if (one := next(found, None)) is None:
                by_kind.remove(found)
            else:
                yield one


def _of_kind(text: str, kernel: str, kind: str, change: Change) -> Iterator[Mutant]:
    tree = ast.parse(text)
    whole = _kernel(tree, kernel)
    seen = {ast.unparse(tree)}
    places: Counter[str] = Counter()
    for number, node in enumerate(ast.walk(whole)):
        if not isinstance(node, CHANGED) or not change(copy.deepcopy(node), whole):
            continue  # copies of the whole file are dear
        where = ast.unparse(node).partition("\n")[0]
        broken = copy.deepcopy(tree)
        body = _kernel(broken, kernel)
        change(list(ast.walk(body))[number], body)
        result = ast.unparse(ast.fix_missing_locations(broken))
        if result not in seen:
            seen.add(result)
            places[where] += 1
            yield Mutant(kind, kernel, where, result + "\n", places[where])


def _kernel(tree: ast.Module, name: str) -> ast.FunctionDef:
    return next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)


CHANGED = (ast.AugAssign, ast.BinOp, ast.Call, ast.Expr, ast.For)
"""What the kinds of fault change."""
Change = Callable[[ast.AST, ast.FunctionDef], bool]
"""Breaks a node of a kernel's body in place; False where it cannot."""


def _is_call(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in {f"tl.{name}" for name in names}


def dropped_mask(node: ast.AST, body: ast.FunctionDef) -> bool:
    """A store or load without its bounds check."""
    if not _is_call(node, "store", "load") or not isinstance(node, ast.Call):
        return False
    kept = [keyword for keyword in node.keywords if keyword.arg not in ("mask", "other")]
    changed = len(kept) < len(node.keywords)
    node.keywords = kept
    return changed


def off_by_one_tile(node: ast.AST, body: ast.FunctionDef) -> bool:
    """The next program's tile: the first one is never done."""
    if not _is_call(node, "program_id") or not isinstance(node, ast.Call):
        return False
    node.func, node.args, node.keywords = ast.Attribute(copy.copy(node), "__add__"), [ast.Constant(1)], []
    return True


def short_loop(node: ast.AST, body: ast.FunctionDef) -> bool:
    """A loop that ends one step early."""
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call) or not node.iter.args:
        return False
    place = 0 if len(node.iter.args) == 1 else 1
    step = node.iter.args[2] if len(node.iter.args) > 2 else ast.Constant(1)
    node.iter.args[place] = ast.BinOp(node.iter.args[place], ast.Sub(), step)
    return True


def skipped_store(node: ast.AST, body: ast.FunctionDef) -> bool:
    """A result that is never stored."""
    if not isinstance(node, ast.Expr) or not _is_call(node.value, "store"):
        return False
    node.value = ast.Constant(None)
    return True


def wrong_reduction(node: ast.AST, body: ast.FunctionDef) -> bool:
    """The other axis, or where there is one only, the largest in place of the sum."""
    if not isinstance(node, ast.Call) or not _is_call(node, "sum"):
        return False
    axis = next((k.value for k in node.keywords if k.arg == "axis"), node.args[1] if len(node.args) > 1 else None)
    if isinstance(axis, ast.Constant) and axis.value == 1:
        axis.value = 0
    else:
        assert isinstance(node.func, ast.Attribute)
        node.func.attr = "max"
    return True


def stale_value(node: ast.AST, body: ast.FunctionDef) -> bool:
    """A value that is not brought up to date: what a loop adds to it is lost."""
    if isinstance(node, ast.AugAssign):
        if isinstance(node.op, ast.Mult):
            node.value = ast.Constant(1.0)
        else:
            node.value = ast.BinOp(node.value, ast.Mult(), ast.Constant(0))
        return True
    return False


def swapped_operator(node: ast.AST, body: ast.FunctionDef) -> bool:
    """Minus for plus between values, times for divided by."""
    if not isinstance(node, ast.BinOp) or not any(_is_value(one) for one in (node.left, node.right)):
        return False
    if any(word in ast.unparse(node) for word in ("max", "b_m")):
        return False  # the shift of a softmax: any other gives the same result
    swapped = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Div: ast.Mult}.get(type(node.op))
    if swapped is None:
        return False
    node.op = swapped()
    return True


def stale_load(node: ast.AST, body: ast.FunctionDef) -> bool:
    """A load whose value is lost: zero, as a buffer holds that was filled too early."""
    if not isinstance(node, ast.Call) or not _is_call(node, "load"):
        return False
    node.func, node.args, node.keywords = ast.Attribute(copy.copy(node), "__mul__"), [ast.Constant(0)], []
    return True


def _is_value(node: ast.AST) -> bool:
    """A value rather than an address: something that was loaded, reduced or computed from such."""
    text = ast.unparse(node)
    return text.startswith(("b_", "h_")) or any(
        f"tl.{name}(" in text for name in ("exp", "exp2", "sum", "load", "sqrt")
    )


KINDS: dict[str, Change] = {
    "dropped mask": dropped_mask,
    "off by one tile": off_by_one_tile,
    "short loop": short_loop,
    "skipped store": skipped_store,
    "wrong reduction": wrong_reduction,
    "stale value": stale_value,
    "swapped operator": swapped_operator,
    "stale load": stale_load,
}
