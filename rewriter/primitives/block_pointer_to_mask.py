"""block_pointer_to_mask: write block pointers as tiles of plain pointers with masks.

rewrite:  p_x = tl.make_block_ptr(x, (T, D), (D, 1), (i_t * BT, 0), (BT, D), (1, 0))
          b_x = tl.load(p_x, boundary_check=(0,))
      ->  o_x_0 = i_t * BT + tl.arange(0, BT).to(tl.int64)
          o_x_1 = tl.arange(0, D).to(tl.int64)
          p_x = x + o_x_0[:, None] * D + o_x_1[None, :]
          m_x = o_x_0[:, None] < T
          b_x = tl.load(p_x, mask=m_x, other=0)

An advance moves the offsets and builds pointer and mask again. Offsets are 64 bits wide, as they are inside a block
pointer, and a lower bound is checked where the offset is not plainly zero or more.

Conditions, for every block pointer of the kernel (one that is left would not compile where block pointers are gone)
    - it is made by an assignment to one name, from tuples that stand there, and that name holds nothing else;
    - it is only loaded from, stored to, advanced into the same name, or asked for its element type;
    - all accesses that one pointer reaches check the same dimensions, which are numbers, and pad with zero or nothing;
    - an advanced pointer has one origin, and nothing in its base, shape or strides is ever set again or loaded.

Numerics
    `bitwise`: the same elements. Where no padding was asked for, what lies outside was undefined and is zero now.

Refuses: pattern_not_found, block_pointer_escapes, boundary_not_readable, unknown_construct.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from skel.store.schema import NumericsClass

from ..analysis.effects import changes_memory, has_run, reads_memory_or_acts
from ..analysis.flow import Definition, Flow, flow_of
from ..analysis.operators import callee_of, operation
from ..conditions.block_offsets import pointer_only_grows
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..reasons import refuse
from .base import Primitive
from .names import language_name, names_in_use

Checks = tuple[int, ...]
_PARTS = ("base", "shape", "strides", "offsets", "block_shape", "order")


@dataclass(eq=False)
class Made:
    """A block pointer as it is made: the parts of the call, dimension by dimension."""

    statement: ast.Assign
    base: ast.expr
    shape: list[ast.expr]
    strides: list[ast.expr]
    offsets: list[ast.expr]
    sizes: list[ast.expr]


@dataclass(eq=False)
class Pointer:
    """A name that holds block pointers, with the statements that set it."""

    name: str
    made: dict[Definition, Made] = field(default_factory=dict)
    advanced: dict[Definition, tuple[ast.Assign, list[ast.expr], Made]] = field(default_factory=dict)
    offsets: list[str] = field(default_factory=list)
    mask: str = ""


def block_pointer_to_mask(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that replace every block pointer of the kernel. Raises Refuse."""
    flow = flow_of(kernel.node)
    language = language_name(module, kernel)
    rewrite = _Rewrite(module, kernel, flow, language or "")
    if not rewrite.calls("make_block_ptr"):
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="block_pointer_to_mask")
    if flow.opaque:
        statement = flow.opaque[0]
        raise refuse("unknown_construct", statement, construct=f"`{type(statement).__name__.lower()}`")
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    pointers = rewrite.pointers()
    return [edit for pointer in pointers for edit in rewrite.edits(pointer)]


class _Rewrite:
    def __init__(self, module: Module, kernel: KernelDef, flow: Flow, language: str) -> None:
        self.module, self.kernel, self.flow, self.language = module, kernel, flow, language
        self.taken = names_in_use(module, kernel)

    def calls(self, *names: str) -> list[ast.Call]:
        """Calls of language functions in the kernel's own body."""
        found = [n for s in self.kernel.node.body for n in ast.walk(s) if isinstance(n, ast.Call)]
        return [n for n in found if operation(self.module, self.flow, n) in names]

    def pointers(self) -> list[Pointer]:
        """Every name that holds a block pointer. Raises Refuse where one cannot be followed."""
        self._no_helper_has_one()
        names: dict[str, Pointer] = {}
        for call in self.calls("make_block_ptr"):
            statement = self._assigned(call, "used where it is made, or assigned to several names")
            made = self.flow.stored[_target(statement)]
            names.setdefault(made.name, Pointer(made.name)).made[made] = self._parts(call, statement)
        for call in self.calls("advance"):
            statement = self._assigned(call, "advanced without a name")
            made = self.flow.stored[_target(statement)]
            first = call.args[0] if call.args else None
            if made.name not in names or not isinstance(first, ast.Name) or first.id != made.name:
                raise _escapes(call, "advanced into another name")
            steps = call.args[1] if len(call.args) == 2 and not call.keywords else None
            before = self.flow.reaching.get(first)
            if before is None:
                raise _escapes(call, "advanced where it may not have been made")
            origin = self._origin(before, names[made.name], call)
            if not isinstance(steps, (ast.Tuple, ast.List)) or len(steps.elts) != len(origin.offsets):
                raise _escapes(call, "advanced by what is no tuple")
            names[made.name].advanced[made] = (statement, list(steps.elts), origin)
        for pointer in names.values():
            self._only_accessed(pointer)
            self._name_parts(pointer)
        return list(names.values())

    def _no_helper_has_one(self) -> None:
        for node in [n for s in self.kernel.node.body for n in ast.walk(s) if isinstance(n, ast.Call)]:
            callee = callee_of(self.module, self.flow, node)
            for _, helper in callee.definitions if callee is not None else ():
                if any(isinstance(n, ast.Attribute) and n.attr == "make_block_ptr" for n in ast.walk(helper.node)):
                    raise _escapes(node, f"made in the helper {helper.name}")

    def _assigned(self, call: ast.Call, how: str) -> ast.Assign:
        """The statement `NAME = <call>`, alone on its lines."""
        statement = self.flow.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
            raise _escapes(call, how)
        source = self.module.source
        before = source.text[source.line_start(statement.lineno) : source.span(statement)[0]]
        if not isinstance(statement.targets[0], ast.Name) or before.strip():
            raise _escapes(call, how)
        return statement

    def _parts(self, call: ast.Call, statement: ast.Assign) -> Made:
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            raise _escapes(call, "made of unpacked arguments")
        parts = dict(zip(_PARTS, call.args, strict=False)) | {k.arg or "": k.value for k in call.keywords}
        lists = []
        for name in ("shape", "strides", "offsets", "block_shape"):
            part = parts.get(name)
            if not isinstance(part, (ast.Tuple, ast.List)) or any(isinstance(e, ast.Starred) for e in part.elts):
                raise _escapes(call, f"made of a {name} that is no tuple")
            lists.append(list(part.elts))
        if "base" not in parts or len({len(part) for part in lists}) != 1 or not lists[0]:
            raise _escapes(call, "made of parts of different lengths")
        if any(isinstance(n, ast.NamedExpr) for n in ast.walk(call)):
            raise _escapes(call, "made while a name is set")
        inner = [n for n in ast.walk(call) if isinstance(n, ast.Call) and n is not call]
        if any(changes_memory(self.module, self.flow, n) for n in inner):
            raise _escapes(call, "made of what a call gives that may change memory")
        return Made(statement, parts["base"], *lists)

    def _origin(self, made: Definition, pointer: Pointer, call: ast.Call) -> Made:
        """The one place where an advanced pointer was made; what it is made of never changes."""
        found: set[Definition] = set()
        seen: set[Definition] = set()
        stack = [made]
        while stack:
            one = stack.pop()
            if one in seen:
                continue
            seen.add(one)
            if one in pointer.made:
                found.add(one)
            elif one.kind in ("join", "carry"):
                stack += one.sources
            elif isinstance(one.value, ast.Call) and operation(self.module, self.flow, one.value) == "advance":
                before = self.flow.reaching.get(one.value.args[0]) if isinstance(one.value.args[0], ast.Name) else None
                stack += [before] if before is not None else []
            else:
                raise _escapes(call, "advanced, but not always made as a block pointer")
        if len(found) != 1:
            raise _escapes(call, "advanced after it was made in more than one place")
        origin = pointer.made[found.pop()]
        for part in (origin.base, *origin.shape, *origin.strides):
            for name in (n.id for n in ast.walk(part) if isinstance(n, ast.Name) and n in self.flow.reaching):
                if len([d for d in self.flow.definitions if d.name == name and d.kind not in ("join", "carry")]) > 1:
                    raise _escapes(call, f"advanced, and {name}, which it is made of, is set more than once")
            if reads_memory_or_acts(self.module, self.flow, part):
                raise _escapes(call, "advanced, and made of what a load or a call gives, which may have changed")
            again = [n for n in ast.walk(part) if isinstance(n, ast.Name) and n in self.flow.reaching]
            if any(self.flow.reaching[n].loops for n in again):
                if not has_run(self.flow, self.kernel.constexprs, origin.statement.value, call):
                    raise _escapes(call, "advanced in another round of the loop that sets what it is made of")
        return origin

    def _only_accessed(self, pointer: Pointer) -> None:
        """Raises Refuse where the name holds anything else or is used in another way."""
        known = pointer.made.keys() | pointer.advanced.keys()
        ranks = {len(m.offsets) for m in pointer.made.values()}
        for made in [d for d in self.flow.definitions if d.name == pointer.name]:
            if made.kind not in ("join", "carry") and made not in known:
                raise _escapes(made.node, "kept in a name that holds something else too")
            for use in made.uses:
                self._require_access(use)
        if len(ranks) > 1:
            raise _escapes(next(iter(pointer.made.values())).statement, "made with different numbers of dimensions")

    def _require_access(self, use: ast.Name) -> None:
        parent = self.flow.parents[use]
        if isinstance(parent, ast.Attribute) and parent.attr in ("dtype", "type"):
            above = self.flow.parents[parent]
            if isinstance(above, ast.Attribute) and above.attr == "element_ty":
                return
        if isinstance(parent, ast.Call) and parent.args and parent.args[0] is use:
            name = operation(self.module, self.flow, parent)
            if name in ("load", "store"):
                self._require_readable(parent, name)
                return
            if name == "advance":
                return
        raise _escapes(use, "passed on")

    def _require_readable(self, call: ast.Call, name: str) -> None:
        """Raises Refuse(boundary_not_readable) where an access cannot be written with a mask."""
        keywords = {k.arg: k.value for k in call.keywords}
        line = self.flow.statement(call)
        if len(call.args) != (1 if name == "load" else 2) or None in keywords or {"mask", "other"} & keywords.keys():
            raise refuse("boundary_not_readable", line, why="its arguments are not those of a block pointer's access")
        padding = keywords.get("padding_option")
        if padding is not None and not (isinstance(padding, ast.Constant) and padding.value in ("", "zero")):
            raise refuse("boundary_not_readable", line, why="it pads with something else than zero")
        checks = keywords.get("boundary_check")
        if checks is None and padding is None:
            return
        if checks is None or not _numbers(checks):
            raise refuse("boundary_not_readable", line, why="the dimensions that it checks are no list of numbers")

    def _name_parts(self, pointer: Pointer) -> None:
        stem = pointer.name.removeprefix("p_") or pointer.name
        rank = len(next(iter(pointer.made.values())).offsets)
        pointer.offsets = [self._free(f"o_{stem}" if rank == 1 else f"o_{stem}_{i}") for i in range(rank)]
        pointer.mask = self._free(f"m_{stem}")

    def _free(self, stem: str) -> str:
        name, number = stem, 1
        while name in self.taken:
            number += 1
            name = f"{stem}_v{number}"
        self.taken.add(name)
        return name

    def edits(self, pointer: Pointer) -> list[Edit]:
        """The statements that set the name, and its accesses."""
        edits: list[Edit] = []
        for made, parts in pointer.made.items():
            checks = self._checks(made)
            lines = [self._offset(n, o, s) for n, o, s in zip(pointer.offsets, parts.offsets, parts.sizes, strict=True)]
            edits.append(self._lines(parts.statement, [*lines, *self._tile(pointer, parts, checks, False)]))
        for made, (statement, steps, origin) in pointer.advanced.items():
            lines = [
                f"{name} += {self._text(step)}"
                for name, step in zip(pointer.offsets, steps, strict=True)
                if not (isinstance(step, ast.Constant) and step.value == 0)
            ]
            edits.append(self._lines(statement, [*lines, *self._tile(pointer, origin, self._checks(made), True)]))
        for made in [d for d in self.flow.definitions if d.name == pointer.name]:
            for use in made.uses:
                parent = self.flow.parents[use]
                if isinstance(parent, ast.Call) and operation(self.module, self.flow, parent) in ("load", "store"):
                    edits += self._access(parent, pointer)
        return edits

    def _checks(self, made: Definition) -> Checks:
        """Dimensions that the accesses of a pointer check: the same in all of them. Raises Refuse."""
        found: dict[Checks, ast.AST] = {}
        seen: set[Definition] = set()
        stack = [made]
        while stack:
            one = stack.pop()
            if one in seen:
                continue
            seen.add(one)
            stack += one.feeds
            for use in one.uses:
                parent = self.flow.parents[use]
                if isinstance(parent, ast.Call) and operation(self.module, self.flow, parent) in ("load", "store"):
                    checks = next((k.value for k in parent.keywords if k.arg == "boundary_check"), None)
                    found.setdefault(_numbers(checks) if checks is not None else (), parent)
        if len(found) > 1:
            first, second = list(found.values())[:2]
            why = f"it checks other dimensions than line {getattr(first, 'lineno', 0)}"
            raise refuse("boundary_not_readable", second, also=[first], why=why)
        return next(iter(found), ())

    def _offset(self, name: str, offset: ast.expr, size: ast.expr) -> str:
        lanes = f"{self.language}.arange(0, {self._text(size, bare=True)}).to({self.language}.int64)"
        if isinstance(offset, ast.Constant) and offset.value == 0:
            return f"{name} = {lanes}"
        return f"{name} = {self._text(offset)} + {lanes}"

    def _tile(self, pointer: Pointer, parts: Made, checks: Checks, moved: bool) -> list[str]:
        """The lines that set the pointers and, where something is checked, the mask."""
        rank = len(parts.offsets)
        places = [name + _index(i, rank) for i, name in enumerate(pointer.offsets)]
        terms = [
            place if isinstance(stride, ast.Constant) and stride.value == 1 else f"{place} * {self._text(stride)}"
            for place, stride in zip(places, parts.strides, strict=True)
        ]
        lines = [f"{pointer.name} = {self._text(parts.base)} + {' + '.join(terms)}"]
        if any(i >= rank or i < 0 for i in checks):
            raise refuse("boundary_not_readable", parts.statement, why="it checks a dimension that is not there")
        tests = []
        for i in sorted(set(checks)):
            below = f"({places[i]} < {self._text(parts.shape[i])})"
            sure = not moved and pointer_only_grows(self.module, self.flow, self.kernel, parts.offsets[i])
            tests.append(below if sure else f"({places[i]} >= 0) & {below}")
        if tests:
            text = " & ".join(tests)
            lines.append(f"{pointer.mask} = {text[1:-1] if len(tests) == 1 and text.count('(') == 1 else text}")
        return lines

    def _lines(self, statement: ast.Assign, lines: list[str]) -> Edit:
        source = self.module.source
        gap = source.newline + source.indent(statement)
        return Edit(*source.span(statement), gap.join(lines))

    def _access(self, call: ast.Call, pointer: Pointer) -> list[Edit]:
        """`boundary_check=...` becomes the mask, `padding_option=...` what lies outside."""
        keywords = {k.arg: k for k in call.keywords}
        check, padding = keywords.get("boundary_check"), keywords.get("padding_option")
        if check is None:
            return []
        mask = f"mask={pointer.mask}"
        loads = operation(self.module, self.flow, call) == "load"
        if padding is not None:
            return [
                Edit(*self.module.source.span(check), mask),
                Edit(*self.module.source.span(padding), "other=0"),
            ]
        return [Edit(*self.module.source.span(check), f"{mask}, other=0" if loads else mask)]

    def _text(self, node: ast.expr, bare: bool = False) -> str:
        """Source of an operand, on one line, bracketed where it is no atom."""
        text = self.module.source.segment(node)
        if "\n" in text or "#" in text:
            text = ast.unparse(node)
        atom = isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript))
        return text if atom or bare else f"({text})"


def _target(statement: ast.Assign) -> ast.Name:
    target = statement.targets[0]
    assert isinstance(target, ast.Name)
    return target


def _index(dimension: int, rank: int) -> str:
    """`[:, None]` and the like; nothing for one dimension."""
    return "" if rank == 1 else f"[{', '.join(':' if i == dimension else 'None' for i in range(rank))}]"


def _numbers(node: ast.expr) -> Checks:
    """The numbers of a boundary check; empty where they cannot be read."""
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    values = [p.value for p in parts if isinstance(p, ast.Constant) and type(p.value) is int]
    return tuple(values) if len(values) == len(parts) else ()


def _escapes(where: ast.AST, how: str) -> Exception:
    return refuse("block_pointer_escapes", where, how=how)


PRIMITIVE = Primitive("block_pointer_to_mask", block_pointer_to_mask, NumericsClass.BITWISE)
