"""cache_hints: say which loaded blocks the cache should keep and which it may drop.

rewrite:  tl.load(x + o)  ->  tl.load(x + o, eviction_policy="evict_first")    (read once: let it go)
          tl.load(x + o)  ->  tl.load(x + o, eviction_policy="evict_last")     (read again in a second pass: keep it)

`policy`
    stream  what is read for the last time is evict_first: loads of parameters that only one load in the kernel reads,
            at places of the program's own, and the last pass over a parameter that several loops read.
    keep    the earlier passes over a parameter that several loops read are evict_last.
    both    both of them.

Conditions
    - a block load of one parameter that the kernel does not write, that names no eviction policy or cache modifier and
      is not volatile; a hint that the author chose is never changed, nor any load of a parameter that has one;
    - stream, of a single read: the address depends on every grid axis that any address depends on (other programs do
      not read it too), and moves with each loop around it;
    - a pass: a loop that walks the parameter along its own variable or a stepped pointer, or a load outside of loops;
      one pass stands surely after the other, and both walk the same range.
    Loads that do not meet them are left; where none does, the primitive refuses.

Numerics
    `bitwise`: a hint changes no value.

Refuses: pattern_not_found, already_applied, bad_setting, unknown_construct.
"""

from __future__ import annotations

import ast
import itertools
from collections import defaultdict

from skel.store.schema import NumericsClass

from ..analysis.effects import has_run, is_volatile
from ..analysis.events import Access
from ..analysis.facts import Facts, analyse
from ..analysis.flow import Flow, Loop, flow_of
from ..analysis.operators import is_method
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.insert import insert_arguments
from ..reasons import refuse
from .base import Primitive

POLICIES = ("stream", "keep", "both")
_HINTS = ("eviction_policy", "cache_modifier")
_PLACES = 5
"""Arguments of tl.load before the hints: pointer, mask, other, boundary_check, padding_option."""


def cache_hints(module: Module, kernel: KernelDef, policy: str = "both") -> list[Edit]:
    """Edits that add an eviction policy to every load where `policy` asks for one. Raises Refuse."""
    if policy not in POLICIES:
        why = "it is stream, keep or both"
        raise refuse("bad_setting", kernel.node, setting="policy", value=policy, why=why)
    flow = flow_of(kernel.node)
    if flow.opaque:
        statement = flow.opaque[0]
        raise refuse("unknown_construct", statement, construct=f"`{type(statement).__name__.lower()}`")
    search = _Search(module, kernel, flow, analyse(module, kernel))
    chosen = search.chosen(policy)
    if not chosen:
        if search.hinted:
            raise refuse("already_applied", search.hinted[0], kernel=kernel.name, skeleton="cache_hints")
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="cache_hints")
    return [
        edit
        for load, hint in sorted(chosen.items(), key=lambda pair: (pair[0].lineno, pair[0].col_offset))
        for edit in insert_arguments(module.source, load, [f'eviction_policy="{hint}"'])
    ]


class _Search:
    def __init__(self, module: Module, kernel: KernelDef, flow: Flow, facts: Facts) -> None:
        self.module, self.kernel, self.flow, self.facts = module, kernel, flow, facts
        self.hinted: list[ast.Call] = []
        own: dict[str, dict[ast.Call, Access]] = defaultdict(dict)
        excluded = {b for access in facts.stores for b in access.pointer.bases}
        for access in facts.accesses:
            if access.kind != "load":
                continue
            if access.path or access.node not in flow.parents:
                excluded |= access.pointer.bases  # In a helper, which others may call.
                continue
            bases = access.pointer.bases
            if any(k.arg in _HINTS and not _is_empty(k.value) for k in access.node.keywords):
                self.hinted.append(access.node)
            if len(bases) != 1 or not self._is_plain(access.node):
                excluded |= bases
                continue
            own[next(iter(bases))][access.node] = access
        self.loads = {base: found for base, found in own.items() if base not in excluded}
        self.axes = frozenset(a for access in facts.accesses for a in access.pointer.axes)

    def chosen(self, policy: str) -> dict[ast.Call, str]:
        found: dict[ast.Call, str] = {}
        for loads in self.loads.values():
            if not all(a.pointer.dims for a in loads.values()):
                continue
            if len(loads) == 1:
                (access,) = loads.values()
                if policy != "keep" and self._is_streamed(access):
                    found[access.node] = "evict_first"
                continue
            passes = self._passes(list(loads))
            if passes is None:
                continue
            if policy != "stream":
                found |= dict.fromkeys(passes[:-1], "evict_last")
            if policy != "keep":
                found[passes[-1]] = "evict_first"
        return found

    def _is_plain(self, load: ast.Call) -> bool:
        """A `tl.load` that names no hint and takes another keyword."""
        if is_method(self.module, self.flow, load) or is_volatile(self.module, self.flow, load):
            return False
        if len(load.args) > _PLACES or any(isinstance(a, ast.Starred) for a in load.args):
            return False
        return not any(k.arg is None or k.arg in _HINTS or k.arg == "volatile" for k in load.keywords)

    def _is_streamed(self, access: Access) -> bool:
        """True where no other program and no other round reads the same place."""
        if not all(any(a.overlaps(b) for b in access.pointer.axes) for a in self.axes):
            return False
        return all(self._moves_with(access.node, loop) for loop in self.flow.loops_around(access.node))

    def _moves_with(self, load: ast.Call, loop: Loop) -> bool:
        """True where the address follows the loop's variable or something that it carries."""
        seen: set[object] = set()
        pending: list[ast.AST] = [load.args[0]]
        while pending:
            node = pending.pop()
            for name in (n for n in ast.walk(node) if isinstance(n, ast.Name) and n in self.flow.reaching):
                stack = [self.flow.reaching[name]]
                while stack:
                    made = stack.pop()
                    if made in seen:
                        continue
                    seen.add(made)
                    if made.kind in ("loop", "carry") and made.statement is loop:
                        return True
                    if made.kind != "loop" and made.value is not None:
                        pending.append(made.value)
                    stack += made.sources
        return False

    def _passes(self, loads: list[ast.Call]) -> list[ast.Call] | None:
        """The loads in order, where each walks the same range in a loop of its own, surely after the one before."""
        ordered = sorted(loads, key=lambda n: (n.lineno, n.col_offset))
        heads = []
        for load in ordered:
            around = self.flow.loops_around(load)
            if not around or not isinstance(around[-1], ast.For) or not self._moves_with(load, around[-1]):
                return None
            heads.append(around)
        for before, after in itertools.pairwise(heads):
            if before[:-1] != after[:-1] or before[-1] is after[-1]:
                return None
            if ast.dump(_range(before[-1])) != ast.dump(_range(after[-1])):
                return None
            if not self._surely_after(before[-1], after[-1]):
                return None
        return ordered

    def _surely_after(self, first: Loop, second: Loop) -> bool:
        assert isinstance(first, ast.For) and isinstance(second, ast.For)
        return has_run(self.flow, self.kernel.constexprs, first.iter, second.iter)


def _range(loop: Loop) -> ast.expr:
    """What a loop counts over, without options."""
    assert isinstance(loop, ast.For)
    return ast.Tuple(loop.iter.args, ast.Load()) if isinstance(loop.iter, ast.Call) else loop.iter


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


PRIMITIVE = Primitive("cache_hints", cache_hints, NumericsClass.BITWISE, ("policy",))
