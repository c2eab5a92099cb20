"""Where the value of a tile parameter comes from, and who else reads it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from ..reasons import refuse
from .autotune import heuristics_of, tuned_names
from .count import outermost, reads_of
from .definition import Module
from .idioms import ceiling_division
from .launch import Launch
from .scope import Binding, bindings_in, names_read, reaching, statement_of, within

TileKind = Literal[
    "literal",
    "expression",
    "name",
    "constant",
    "dict",
    "call",
    "default",
    "parameter",
    "autotune",
    "heuristic",
    "param_default",
    "unknown",
]
TileUseKind = Literal["count", "argument", "assert", "option", "definition", "other"]


@dataclass(frozen=True)
class TileUse:
    """One read of the tile in the launching function."""

    kind: TileUseKind
    node: ast.expr
    what: str

    @property
    def line(self) -> int:
        return self.node.lineno


@dataclass(frozen=True)
class TileBinding:
    """How one launch comes by its tile."""

    kind: TileKind
    param: str
    argument: ast.expr | None
    """The expression at the launch; None where the launch does not name the parameter."""
    sources: tuple[Binding, ...] = ()
    """name, call, default, parameter: the bindings of the tile's name that reach the launch. dict: of the dict."""
    container: ast.expr | None = None
    """dict: the dict expression (a name, or a table lookup written at the launch)."""
    key: str | None = None
    """dict: the key that holds the tile."""
    through_splat: bool = False
    """dict: by `**container` at the launch."""
    decorator: ast.expr | None = None
    """autotune: the decorator; heuristic: the lambda or function; param_default: the default."""
    uses: tuple[TileUse, ...] = ()
    """Reads of the tile's name (dict: of the dict) in the launching function."""

    def entry(self, at: ast.AST) -> ast.expr:
        """dict: the entry that holds the tile, as it would be read at a node. Raises AssertionError for other kinds."""
        assert self.container is not None and self.key is not None
        entry = ast.Subscript(value=self.container, slice=ast.Constant(value=self.key), ctx=ast.Load())
        return ast.copy_location(entry, at)


def trace_tile(module: Module, launch: Launch, param: str) -> TileBinding:
    """Where the launch takes `param` from.

    Raises Refuse(unreadable_launch) for arguments from `*args`, tile_through_kwargs where several `**` may hold it.
    """
    argument = launch.arguments.get(param)
    if argument is None:
        return _not_named(module, launch, param)
    while (
        isinstance(argument, ast.Call)
        and isinstance(argument.func, ast.Name)
        and argument.func.id == "int"
        and len(argument.args) == 1
    ):
        argument = argument.args[0]
    if isinstance(argument, ast.Constant):
        return TileBinding("literal", param, argument)
    if (
        isinstance(argument, ast.Subscript)
        and isinstance(argument.slice, ast.Constant)
        and isinstance(argument.slice.value, str)
    ):
        return _from_dict(module, launch, param, argument, argument.value, argument.slice.value, False)
    if not isinstance(argument, ast.Name):
        kind: TileKind = "unknown" if isinstance(argument, ast.Attribute | ast.Subscript) else "expression"
        return TileBinding(kind, param, argument)
    sources = reaching(module.source, argument.id, argument)
    if not sources:
        return TileBinding("unknown", param, argument)
    uses = tuple(tile_use(module, launch, node, param) for node in reads_of(module, sources, launch.function))
    return TileBinding(_kind(module, sources), param, argument, sources, uses=uses)


def tile_use(module: Module, launch: Launch, node: ast.expr, param: str) -> TileUse:
    """What a read of the tile is for."""
    source = module.source
    child: ast.AST = node
    parent = source.parents.get(child)
    counted = False
    while parent is not None and not isinstance(child, ast.stmt):
        if isinstance(child, ast.expr) and (division := ceiling_division(module, child)) is not None:
            counted = counted or not within(source, node, division.dimension)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Subscript):
            if parent.func.value is child or within(source, node, parent.func):
                if counted and _launches(module, launch, parent):
                    return TileUse("count", node, "the grid")
                return TileUse("other", node, f"the grid of {ast.unparse(parent.func.value)}")
            if not _launches(module, launch, parent):
                return TileUse("other", node, f"the launch of {ast.unparse(parent.func.value)}")
            if launch.arguments.get(param) is node or (isinstance(child, ast.keyword) and child.arg == param):
                return TileUse("argument", node, "the launch")
            if counted:
                return TileUse("count", node, "an argument")
            if isinstance(child, ast.keyword) and child.arg in launch.options:
                return TileUse("option", node, f"the launch option {child.arg}")
            position = parent.args.index(child) if child in parent.args else -1
            names = launch.kernel.parameter_names
            if 0 <= position < len(names) and names[position] == param and child is node:
                return TileUse("argument", node, "the launch")
            return TileUse("other", node, "another argument of the launch")
        child, parent = parent, source.parents.get(parent)
    if counted:
        return TileUse("count", node, "the number of tiles")
    statement = statement_of(source, node)
    if isinstance(statement, ast.Assert):
        return TileUse("assert", node, "a check")
    if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise):
        return TileUse("assert", node, "a check")
    if isinstance(statement, ast.Raise):
        return TileUse("assert", node, "an error message")
    parent = source.parents.get(node)
    if isinstance(parent, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops):
        return TileUse("assert", node, "a check for None")
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if all(isinstance(t, ast.Name) and _only_option(module, launch, t, statement) for t in targets):
            return TileUse("option", node, "a launch option")
        if statement.value is node and len(targets) == 1 and isinstance(targets[0], ast.Name):
            return _second_name(module, launch, node, param, bindings_in([statement], targets[0].id))
    return TileUse("other", node, f"`{source.segment(statement).splitlines()[0].strip()}`")


def _second_name(module: Module, launch: Launch, node: ast.expr, param: str, bindings: tuple[Binding, ...]) -> TileUse:
    """`n = BV`: for whatever n is read for; any other use of n is one of the tile."""
    for read in reads_of(module, bindings, launch.function):
        use = tile_use(module, launch, read, param)
        if use.kind == "other":
            return use
    return TileUse("definition", node, "a second name")


def _launches(module: Module, launch: Launch, call: ast.Call) -> bool:
    """True where the call launches the same kernel."""
    if call is launch.call:
        return True
    assert isinstance(call.func, ast.Subscript)
    target = call.func.value
    return isinstance(target, ast.Name) and any(
        b.node is launch.kernel.node for b in reaching(module.source, target.id, target)
    )


def _only_option(module: Module, launch: Launch, target: ast.Name, statement: ast.stmt) -> bool:
    """True where the name is read only as an option of this launch."""
    reads = [
        n
        for n in names_read(outermost(module, launch.function))
        if n.id == target.id and any(b.statement is statement for b in reaching(module.source, n.id, n))
    ]
    values = [k.value for k in launch.options.values()]
    return bool(reads) and all(any(n is v for v in values) for n in reads)


def _kind(module: Module, sources: tuple[Binding, ...]) -> TileKind:
    if any(b.kind == "parameter" for b in sources) and len(sources) == 1:
        return "default" if sources[0].value is not None else "parameter"
    if any(b.kind in ("other", "loop", "import", "definition", "augmented") for b in sources):
        return "unknown"
    if all(b.statement is not None and b.statement in module.source.tree.body for b in sources):
        return "constant"
    values = [b.value for b in sources]
    if any(b.kind == "unpack" for b in sources) or all(
        isinstance(v, ast.Call) and _is_helper(module, v) for v in values
    ):
        return "call"
    return "name"


def _is_helper(module: Module, call: ast.Call) -> bool:
    return not (
        isinstance(call.func, ast.Name) and call.func.id in ("min", "max", "int")
    ) and "power" not in ast.unparse(call.func)


def _not_named(module: Module, launch: Launch, param: str) -> TileBinding:
    kernel = launch.kernel
    tuned, complete = tuned_names(module, kernel)
    if param in tuned:
        return TileBinding("autotune", param, None, decorator=kernel.autotune)
    for name, function in heuristics_of(kernel):
        if name == param:
            return TileBinding("heuristic", param, None, decorator=function)
    if launch.positional_splat is not None:
        raise refuse("unreadable_launch", launch.call, kernel=kernel.name, why="its arguments come from *args")
    if launch.splats:
        holders = [s for s in launch.splats if may_hold(module, s, param)]
        if len(holders) == 1:
            return _from_dict(module, launch, param, None, holders[0], param, True)
        if len(holders) > 1:
            raise refuse("tile_through_kwargs", launch.call, tile=param, name=ast.unparse(holders[0]))
    if not complete:
        return TileBinding("autotune", param, None, decorator=kernel.autotune)
    parameter = kernel.parameter(param)
    if parameter is not None and parameter.default is not None:
        return TileBinding("param_default", param, None, decorator=parameter.default)
    return TileBinding("unknown", param, None)


def _from_dict(
    module: Module,
    launch: Launch,
    param: str,
    argument: ast.expr | None,
    container: ast.expr,
    key: str,
    through_splat: bool,
) -> TileBinding:
    sources: tuple[Binding, ...] = ()
    uses: tuple[TileUse, ...] = ()
    if isinstance(container, ast.Name):
        sources = reaching(module.source, container.id, container)
        uses = tuple(_dict_use(module, launch, n, param, key) for n in reads_of(module, sources, launch.function))
    return TileBinding("dict", param, argument, sources, container, key, through_splat, uses=uses)


def _dict_use(module: Module, launch: Launch, node: ast.Name, param: str, key: str) -> TileUse:
    parent = module.source.parents.get(node)
    if isinstance(parent, ast.keyword) and parent.arg is None:
        call = module.source.parents.get(parent)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Subscript) and _launches(module, launch, call):
            return TileUse("argument", node, "the launch")
        return TileUse("other", node, f"`{ast.unparse(call)[:60]}`" if call is not None else "another call")
    if (
        isinstance(parent, ast.Subscript)
        and isinstance(parent.ctx, ast.Load)
        and isinstance(parent.slice, ast.Constant)
    ):
        return (
            TileUse("option", node, "another entry")
            if parent.slice.value != key
            else tile_use(module, launch, parent, param)
        )
    if isinstance(parent, ast.Attribute) and parent.attr in ("get", "keys", "items", "values", "copy"):
        call = module.source.parents.get(parent)
        if (
            isinstance(call, ast.Call)
            and call.args
            and isinstance(call.args[0], ast.Constant)
            and call.args[0].value != key
        ):
            return TileUse("option", node, "another entry")
    return TileUse(
        "other", node, f"`{module.source.segment(statement_of(module.source, node)).splitlines()[0].strip()}`"
    )


def may_hold(module: Module, splat: ast.expr, param: str) -> bool:
    """False where the dict is written out and has no such key."""
    match splat:
        case ast.Dict(keys=keys) if all(isinstance(k, ast.Constant) for k in keys):
            return any(isinstance(k, ast.Constant) and k.value == param for k in keys)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if all(k.arg for k in keywords):
            return any(k.arg == param for k in keywords)
        case ast.Name(id=name):
            bindings = reaching(module.source, name, splat)
            values = [b.value for b in bindings]
            if bindings and all(b.kind == "assign" for b in bindings):
                return any(v is None or may_hold(module, v, param) or _gains(module, bindings, param) for v in values)
    return True


def _gains(module: Module, bindings: tuple[Binding, ...], param: str) -> bool:
    """True where entries are added to the dict after it was made."""
    for tree_node in ast.walk(module.source.tree):
        if (
            isinstance(tree_node, ast.Subscript)
            and isinstance(tree_node.ctx, ast.Store)
            and isinstance(tree_node.value, ast.Name)
        ):
            if tree_node.value.id == bindings[0].name and not (
                isinstance(tree_node.slice, ast.Constant) and tree_node.slice.value != param
            ):
                return True
        elif (
            isinstance(tree_node, ast.Attribute)
            and tree_node.attr in ("update", "setdefault", "pop")
            and isinstance(tree_node.value, ast.Name)
            and tree_node.value.id == bindings[0].name
        ):
            return True
    return False
