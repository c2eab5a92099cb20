"""set_launch: set launch options such as num_warps and num_stages.

rewrite:  kernel[grid](..., num_warps=1)  ->  kernel[grid](..., num_warps=4)

Numerics
    `reassociated`: reductions across warps are summed in another order. Stages alone are `bitwise`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ..conditions.launch_sites import require_same_choice
from ..kernel.autotune import heuristics_of
from ..kernel.changes import Changes, Spot, merged
from ..kernel.count import reads_of
from ..kernel.definition import Module
from ..kernel.edits import Edit
from ..kernel.launch import Launch
from ..kernel.scope import Binding, reaching
from ..kernel.tile import may_hold
from ..reasons import refuse


def set_launch(module: Module, launches: Sequence[Launch], options: Mapping[str, int]) -> list[Edit]:
    """Edits that give every launch these options.

    Raises Refuse: option_belongs_to_autotuner, tile_from_heuristic (an option that a heuristic computes),
    several_launch_sites, unreadable_launch, option_through_kwargs.
    """
    require_same_choice(module, launches, None)
    return option_changes(module, launches, options).edits(module)


def option_changes(module: Module, launches: Sequence[Launch], options: Mapping[str, int]) -> Changes:
    """The changes behind `set_launch`, to be merged with others of the same launcher."""
    return merged(_one_launch(module, launch, launches, options) for launch in launches)


def _one_launch(module: Module, launch: Launch, launches: Sequence[Launch], options: Mapping[str, int]) -> Changes:
    changes = Changes()
    for name, value in options.items():
        if launch.kernel.autotune is not None:
            raise refuse(
                "option_belongs_to_autotuner",
                launch.kernel.autotune,
                also=[launch.call],
                option=name,
                kernel=launch.kernel.name,
            )
        for computed, function in heuristics_of(launch.kernel):
            if computed == name:
                raise refuse("tile_from_heuristic", function, also=[launch.call], tile=name)
        keyword = launch.options.get(name)
        if keyword is not None:
            changes.replace(module, _value_node(module, keyword.value, launch, launches), str(value))
            continue
        holders = [s for s in launch.splats if may_hold(module, s, name)]
        if not holders:
            changes.add_keyword(launch.call, name, str(value))
        elif len(holders) == 1:
            _in_dict(module, launch, holders[0], name, str(value), changes)
        else:
            raise refuse("option_through_kwargs", launch.call, option=name, name=ast.unparse(holders[0]))
    return changes


def _value_node(module: Module, node: ast.expr, launch: Launch, launches: Sequence[Launch]) -> ast.expr:
    """The literal to change: where the name was assigned, if it serves only these launches; else at the launch.

    The default of the launcher's own argument is changed where no caller in the file stands in the way; a caller
    elsewhere that names it keeps its choice.
    """
    if not isinstance(node, ast.Name):
        return node
    bindings = reaching(module.source, node.id, node)
    if len(bindings) != 1 or not isinstance(bindings[0].value, ast.Constant):
        return node
    if bindings[0].kind != "assign" and not (bindings[0].kind == "parameter" and not _called(module, launch)):
        return node
    if launch.function is None or bindings[0].statement in module.source.tree.body:
        return node
    values = [k.value for one in launches for k in one.options.values()]
    if all(any(read is v for v in values) for read in reads_of(module, bindings, launch.function)):
        return bindings[0].value
    return node


def _called(module: Module, launch: Launch) -> bool:
    """True where the file itself calls the launching function, or its function is no plain one of the module."""
    if launch.function is None or launch.function not in module.source.tree.body:
        return True
    calls = (n.func for n in ast.walk(module.source.tree) if isinstance(n, ast.Call))
    return any(isinstance(called, ast.Name) and called.id == launch.function.name for called in calls)


def _in_dict(module: Module, launch: Launch, operand: ast.expr, name: str, value: str, changes: Changes) -> None:
    bindings: tuple[Binding, ...] = ()
    if isinstance(operand, ast.Name):
        bindings = reaching(module.source, operand.id, operand)
    local = [b for b in bindings if b.statement is not None and b.statement not in module.source.tree.body]
    if isinstance(operand, ast.Name) and local and all(b.kind in ("assign", "unpack") for b in bindings):
        for binding in local:
            assert binding.statement is not None
            changes.set_entry(Spot(binding.statement), operand.id, name, value)
        return
    changes.set_inline(operand, name, value)
