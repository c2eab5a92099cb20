"""Facts of one kernel that its own text shows: grid axes, loops, configurations, what it loads and stores."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import prod

from .tokens import dotted

_ACCESSES = frozenset({"tl.load", "tl.store", "tl.atomic_add", "tl.atomic_max"})


def kernel_facts(function: ast.FunctionDef | ast.AsyncFunctionDef, nodes: list[ast.AST]) -> set[str]:
    """Facts of a canonical kernel, each a short string. `nodes`: all nodes of it."""
    facts = set(_parameters(function))
    ids = _ids(nodes)
    axes = {ast.unparse(n.args[0]) for n in nodes if _is_id(n) and isinstance(n, ast.Call) and n.args}
    facts.add(f"axes:{len(axes)}")
    if _decodes_ids(nodes, ids):
        facts.add("decodes_ids")
    facts |= set(_loops(nodes, ids))
    facts |= set(_memory(function, nodes))
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and "autotune" in dotted(decorator.func):
            facts |= _configurations(decorator)
        elif isinstance(decorator, ast.Call) and dotted(decorator.func).endswith("jit"):
            facts |= {f"{k.arg}:{name}" for k in decorator.keywords for name in _strings(k.value) if k.arg is not None}
    return facts


def _calls(node: ast.AST, *names: str) -> list[ast.Call]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Call) and dotted(n.func) in names]


def _ids(nodes: list[ast.AST]) -> set[str]:
    """Names that are given program ids."""
    return {
        name.id
        for node in nodes
        if isinstance(node, ast.Assign) and _calls(node.value, "tl.program_id")
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }


def _strings(node: ast.AST) -> list[str]:
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for argument in [*function.args.args, *function.args.kwonlyargs]:
        constexpr = argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)
        yield f"{'constexpr' if constexpr else 'runtime'}:{argument.arg}"


def _decodes_ids(nodes: list[ast.AST], ids: set[str]) -> bool:
    """True where a program id is taken apart by `%` and `//`."""
    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.FloorDiv):
            if any((isinstance(n, ast.Name) and n.id in ids) or _is_id(n) for n in ast.walk(node.left)):
                return True
    return False


def _is_id(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) == "tl.program_id"


def _loops(nodes: list[ast.AST], ids: set[str]) -> Iterator[str]:
    loops = [n for n in nodes if isinstance(n, ast.For | ast.While)]
    kept = [n for n in loops if not (isinstance(n, ast.For) and _calls(n.iter, "tl.static_range"))]
    if kept:
        yield "loops"
    yield f"loops:{len(kept)}"
    for loop in kept:
        if isinstance(loop, ast.For) and (_calls(loop.iter, "tl.num_programs") or _starts_at_id(loop.iter, ids)):
            yield "strided_loop"
        if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call):
            yield from (f"range_stages:{ast.unparse(k.value)}" for k in loop.iter.keywords if k.arg == "num_stages")


def _starts_at_id(iterated: ast.expr, ids: set[str]) -> bool:
    if not isinstance(iterated, ast.Call) or len(iterated.args) != 3:
        return False
    names = {n.id for n in ast.walk(iterated.args[0]) if isinstance(n, ast.Name)}
    return bool(names & ids) or bool(_calls(iterated.args[0], "tl.program_id"))


def _memory(function: ast.FunctionDef | ast.AsyncFunctionDef, nodes: list[ast.AST]) -> Iterator[str]:
    """`stores:x` and `loads:x` for the parameters that addresses start from, followed through plain assignments."""
    parameters = {a.arg for a in [*function.args.args, *function.args.kwonlyargs]}
    roots: dict[str, set[str]] = {p: {p} for p in parameters}
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            base = _base(node.value)
            if base in roots and node.targets[0].id != base:
                roots.setdefault(node.targets[0].id, set()).update(roots[base])
    for call in nodes:
        if not isinstance(call, ast.Call) or dotted(call.func) not in _ACCESSES:
            continue
        base = _base(call.args[0]) if call.args else None
        kind = "loads" if dotted(call.func) == "tl.load" else "stores"
        for root in roots.get(base or "", ()):
            if root in parameters:
                yield f"{kind}:{root}"


def _base(node: ast.expr) -> str | None:
    """The leftmost name of an address: `x` of `x + i * stride`, of `tl.make_block_ptr(x + ..., ...)`."""
    while True:
        match node:
            case ast.BinOp(left=left):
                node = left
            case ast.Call(args=[first, *_]):
                node = first
            case ast.Call(func=ast.Attribute(value=value), args=[]) | ast.Subscript(value=value):
                node = value
            case ast.Name(id=name):
                return name
            case _:
                return None


def _configurations(decorator: ast.Call) -> set[str]:
    """Options that an autotuner tries, how many configurations there are, and its key."""
    facts: set[str] = set()
    keywords = {k.arg: k.value for k in decorator.keywords}
    configs = keywords.get("configs", decorator.args[0] if decorator.args else None)
    total = 0
    if isinstance(configs, ast.ListComp):
        total = prod(max(len(_values(g.iter)), 1) for g in configs.generators)
        for generator in configs.generators:
            name = ast.unparse(generator.target)
            facts |= {f"config:{name}={v}" for v in _values(generator.iter)}
    for call in _calls(configs, "triton.Config") if configs is not None else []:
        total += not isinstance(configs, ast.ListComp)
        pairs = [(k.arg or "", k.value) for k in call.keywords]
        for argument in call.args[:1]:
            if isinstance(argument, ast.Dict):
                pairs += [
                    (ast.literal_eval(k), v)
                    for k, v in zip(argument.keys, argument.values, strict=True)
                    if isinstance(k, ast.Constant)
                ]
        facts |= {f"config:{n}={ast.unparse(v)}" for n, v in pairs if isinstance(v, ast.Constant)}
    if total:
        facts.add(f"configs:{total}")
    elif isinstance(configs, ast.Name):
        facts.add(f"configs_of:{configs.id}")
    for name in _strings(keywords["key"]) if "key" in keywords else []:
        facts.add(f"config_key:{name}")
    if "prune_configs_by" in keywords:
        facts.add("config_prune")
    return facts


def _values(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return list(dict.fromkeys([*_values(node.body), *_values(node.orelse)]))
    if isinstance(node, ast.List | ast.Tuple):
        return [ast.unparse(e) for e in node.elts]
    return []
