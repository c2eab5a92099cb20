"""widen_autotune: let the autotuner try more warps, and tell its choices apart by every size they depend on.

rewrite:  @triton.autotune([triton.Config({}, num_warps=w) for w in [4]], key=["N"])
          ->  @triton.autotune([triton.Config({}, num_warps=w) for w in [4, 2, 8]], key=["N", "D", "BT"])

Warps below and above those that are tried are added, at the end, so that what is tried first stays first. The key gains
the constexpr sizes that are not tuned themselves: without them the configuration found for the first size would serve
all others. A pruning function sees the new configurations like the old ones and is left alone.

Conditions
    - configurations and key stand in the decorator as plain lists (a comprehension over a list of warps counts), so
      that no other kernel shares them and no list is chosen by device: such lists work around miscompiles;
    - the kernel runs again with the same result: it reads nothing that it writes and holds no atomic, unless the
      decorator restores it; what it does beside that counts only where several configurations were tuned before.

Numerics
    `reassociated`: the number of warps changes the order in which reductions add.

Refuses: no_autotuner, autotune_not_listed, autotune_wide_enough, inplace_not_separated.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.facts import analyse
from ..analysis.lanes import written_bases
from ..conditions.aliases import aliases_of
from ..kernel.autotune import heuristics_of, tuned_names
from ..kernel.configurations import WarpChoices, decorator_argument, key_names, warp_choices
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.launch import launches_of
from ..reasons import refuse
from .base import Primitive

WARPS = (2, 4, 8)
"""Warps that are tried in the end, where the list holds none beyond them."""
_RESTORES = frozenset({"restore_value", "reset_to_zero", "pre_hook", "post_hook"})
_SIZES = frozenset({"arange", "zeros", "full", "cdiv", "make_block_ptr", "make_tensor_descriptor", "range"})


def widen_autotune(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits of the kernel's autotune decorator. Raises Refuse."""
    if kernel.autotune is None:
        raise refuse("no_autotuner", kernel.node, kernel=kernel.name)
    configs, key = decorator_argument(kernel, "configs", 0), key_names(decorator_argument(kernel, "key", 1))
    choices = warp_choices(module, configs) if configs is not None else None
    if choices is None or key is None:
        raise refuse("autotune_not_listed", kernel.autotune, kernel=kernel.name)
    more = _more(choices.values)
    absent = [n for n in size_parameters(module, kernel) if n not in key[1]]
    if not more and not absent:
        raise refuse("autotune_wide_enough", kernel.autotune, kernel=kernel.name)
    if more:
        _require_repeatable(module, kernel, _are_several(choices))
    edits = [_with_warps(module, choices, more)] if more else []
    return edits + ([_appended(module, key[0], [_quoted(module, key[0], n) for n in absent])] if absent else [])


def _more(values: tuple[int, ...]) -> list[int]:
    """Warps below and above those that are tried; one left out in between was left out on purpose."""
    return [n for n in WARPS if n < min(values) or n > max(values)]


def size_parameters(module: Module, kernel: KernelDef) -> list[str]:
    """Constexpr parameters that are sizes: operands of arithmetic or comparisons, or arguments of what makes a shape.

    Those that configurations or heuristics set are none: they follow from the others.
    """
    tuned, _ = tuned_names(module, kernel)
    computed = {name for name, _ in heuristics_of(kernel)}
    sizes: set[str] = set()
    for node in ast.walk(kernel.node):
        parts: list[ast.AST] = []
        if isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Compare) and not any(isinstance(c, ast.Constant) for c in node.comparators):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and (module.names.triton_name(node.func) or _plain(node.func)) in _SIZES:
            parts = [p for a in node.args for p in (a.elts if isinstance(a, (ast.Tuple, ast.List)) else [a])]
        sizes |= {p.id for p in parts if isinstance(p, ast.Name)}
    return [p for p in kernel.parameter_names if p in kernel.constexprs and p in sizes and p not in tuned | computed]


def _plain(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else ""


def _are_several(choices: WarpChoices) -> bool:
    return len(choices.configs.elts if choices.configs is not None else choices.values) > 1


def _restored(kernel: KernelDef) -> frozenset[str]:
    """Parameters that the decorator restores by name. Setting to zero is none: one configuration never did that."""
    assert kernel.autotune is not None
    listed = next((k.value for k in kernel.autotune.keywords if k.arg == "restore_value"), None)
    elements = listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else []
    return frozenset(e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str))


def _zeroed(kernel: KernelDef) -> bool:
    assert kernel.autotune is not None
    return any(k.arg in ("reset_to_zero", "pre_hook", "post_hook") for k in kernel.autotune.keywords)


def _require_repeatable(module: Module, kernel: KernelDef, was_tuned: bool) -> None:
    """Raises Refuse(inplace_not_separated): tuning runs the kernel again and again on the same memory.

    A single configuration is launched as it is, without tuning and without what goes with it.
    """
    assert kernel.autotune is not None
    if was_tuned and any(k.arg in _RESTORES for k in kernel.autotune.keywords):
        return  # Whatever that restores, it was tuned with before.
    if not was_tuned and _zeroed(kernel):
        hooked = "what tuning sets to zero or a hook changes"
        raise refuse("inplace_not_separated", kernel.autotune, axis="the configurations", name=hooked)
    restored = _restored(kernel)
    facts = analyse(module, kernel)
    written = written_bases(facts, aliases_of(module, launches_of(module, kernel)))
    for access in facts.accesses:
        if access.pointer.bases and access.pointer.bases <= restored:
            continue
        if access.kind not in ("load", "store") or (access.kind == "load" and access.pointer.bases & written):
            name = ", ".join(sorted(access.pointer.bases)) or "memory"
            raise refuse("inplace_not_separated", access.line, axis="the configurations", name=name)


def _with_warps(module: Module, choices: WarpChoices, more: list[int]) -> Edit:
    if choices.numbers is not None:
        return _appended(module, choices.numbers, [str(n) for n in more])
    assert choices.configs is not None and choices.pattern is not None
    source, pattern = module.source, choices.pattern
    text = source.segment(pattern)
    start = source.span(pattern)[0]
    given = next((k.value for k in pattern.keywords if k.arg == "num_warps"), None)
    made = []
    for number in more:
        if given is None:
            made.append(f"{text[:-1].rstrip().rstrip(',')}, num_warps={number})")
        else:
            a, b = source.span(given)
            made.append(f"{text[: a - start]}{number}{text[b - start :]}")
    return _appended(module, choices.configs, made)


def _quoted(module: Module, key: ast.List, name: str) -> str:
    """The name in the quotes that the key's last element has."""
    quote = module.source.segment(key.elts[-1])[-1] if key.elts else '"'
    return f"{quote}{name}{quote}"


def _appended(module: Module, listed: ast.List | ast.Tuple, texts: list[str]) -> Edit:
    """Elements added behind the last one, on lines of their own where the last one has its own."""
    source = module.source
    if not listed.elts:
        start = source.span(listed)[0] + 1
        return Edit(start, start, ", ".join(texts))
    last = listed.elts[-1]
    end = source.span(last)[1]
    before = source.text[source.line_start(last.lineno) : source.span(last)[0]]
    gap = source.newline + before if not before.strip() else " "
    return Edit(end, end, "".join(f",{gap}{text}" for text in texts))


PRIMITIVE = Primitive("widen_autotune", widen_autotune, NumericsClass.REASSOCIATED)
