"""Functions of a CUDA file with what detectors ask of them: calls, loops, branches, inline assembly. All lazily."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from .preprocess import Marked, Meaning, macros_in, marked

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@dataclass(frozen=True, eq=False)
class Call:
    """One call: `scheduler.template get<true>(a, b)` has the name `get`, the scope `scheduler` and two arguments."""

    node: Node
    name: str
    scope: tuple[str, ...]
    """What stands before `::`, outermost first."""
    receiver: str | None
    """The object of a method call."""
    template: tuple[str, ...]
    arguments: tuple[Node, ...]

    @property
    def line(self) -> int:
        return self.node.start_point[0] + 1


@dataclass(frozen=True, eq=False)
class CudaFunction:
    """A kernel, a device function or a host function, with its body."""

    path: str
    name: str
    scope: tuple[str, ...]
    """Namespaces and classes around it, outermost first."""
    node: Node
    body: Node
    meaning: Meaning
    """`global` for a kernel."""
    bounds: tuple[str, ...]
    """Its launch bounds and cluster sizes, as written."""

    @property
    def is_kernel(self) -> bool:
        return self.meaning == "global"

    @property
    def line(self) -> int:
        return self.node.start_point[0] + 1

    @property
    def end_line(self) -> int:
        return self.node.end_point[0] + 1

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node of the body, in source order."""
        return tuple(below(self.body))

    def of(self, *types: str) -> list[Node]:
        """Nodes of the body of these types."""
        if len(types) == 1:
            return self._by_type.get(types[0], [])
        found = [node for one in types for node in self._by_type.get(one, ())]
        return sorted(found, key=lambda node: (node.start_byte, -node.end_byte))

    @cached_property
    def _by_type(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(node.type, []).append(node)
        return found

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        found = (call_of(node) for node in self.of("call_expression"))
        return tuple(call for call in found if call is not None)

    def called(self, *names: str) -> list[Call]:
        return [call for call in self.calls if call.name in names]

    @cached_property
    def assembly(self) -> tuple[tuple[int, str], ...]:
        """Inline assembly: line and instruction text."""
        found = []
        for node in self.of("gnu_asm_expression"):
            text = " ".join(text_of(n) for n in below(node) if n.type in ("string_content", "raw_string_content"))
            found.append((node.start_point[0] + 1, text))
        for call in self.called("asm", "__asm__"):
            found.append((call.line, " ".join(text_of(n) for n in below(call.node) if n.type == "string_content")))
        return tuple(found)

    @cached_property
    def loops(self) -> tuple[Node, ...]:
        return tuple(self.of("for_statement", "while_statement", "do_statement", "for_range_loop"))

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, in order; an unnamed one is empty."""
        declarator = _function_declarator(self.node)
        listed = declarator.child_by_field_name("parameters") if declarator is not None else None
        names = []
        for node in listed.named_children if listed is not None else ():
            if node.type in (
                "parameter_declaration",
                "optional_parameter_declaration",
                "variadic_parameter_declaration",
            ):
                inner = node.child_by_field_name("declarator")
                words = [n for n in below(inner) if n.type == "identifier"] if inner is not None else []
                names.append(text_of(words[0]) if words else "")
        return tuple(names)

    @cached_property
    def defaults(self) -> tuple[str, ...]:
        """Default values of the parameters, in order; of one without a default it is empty."""
        declarator = _function_declarator(self.node)
        listed = declarator.child_by_field_name("parameters") if declarator is not None else None
        values = ((n.type, n.child_by_field_name("default_value")) for n in (listed.named_children if listed else ()))
        return tuple(text_of(value) if value else "" for type_, value in values if type_.endswith("_declaration"))

    @cached_property
    def required(self) -> int:
        """How many arguments a call must give at least."""
        declarator = _function_declarator(self.node)
        listed = declarator.child_by_field_name("parameters") if declarator is not None else None
        return sum(n.type == "parameter_declaration" for n in listed.named_children) if listed is not None else 0

    @cached_property
    def digest(self) -> str:
        """Of the words of its parameters and body, without comments and without its own name."""
        hasher = hashlib.sha256()
        for node in below(self.node):
            if node.child_count == 0 and node.type != "comment":
                word = text_of(node)
                hasher.update((("f" if word == self.name else word) + " ").encode())
        return hasher.hexdigest()[:40]


@dataclass(frozen=True, eq=False)
class CudaFile:
    """A CUDA or C++ file."""

    path: str
    root: Node
    functions: tuple[CudaFunction, ...]
    comments: tuple[tuple[int, str], ...]
    """Lines and texts of comments, a line each."""


def read_cuda(path: str, data: bytes, macros: dict[str, Meaning]) -> CudaFile:
    """The file's functions. `macros` are those of all files of the source. Faults are read past, as grammars do."""
    ready = marked(data, {**macros, **macros_in(data)})
    root = _parser().parse(ready.data).root_node
    comments: list[tuple[int, str]] = []
    nodes: list[Node] = []
    for node in below(root):
        if node.type == "comment":
            comments += _comment_lines(node)
        elif node.type == "function_definition" and node.child_by_field_name("body") is not None:
            nodes.append(node)
    return CudaFile(path, root, tuple(_functions(path, nodes, ready)), tuple(comments))


def _functions(path: str, nodes: list[Node], ready: Marked) -> Iterator[CudaFunction]:
    """Each mark belongs to the function whose body comes next."""
    starts = []
    for node in nodes:
        body = node.child_by_field_name("body")
        if body is not None and body.type in ("compound_statement", "try_statement"):
            starts.append((body.start_byte, node, body))
    starts.sort(key=lambda one: one[0])
    edges = [start for start, _, _ in starts]
    meanings: dict[int, Meaning] = {}
    bounds: dict[int, list[str]] = {}
    for at, meaning in ready.marks:
        index = _next(edges, at)
        if index is not None and not _ended(ready.data, at, edges[index]):
            meanings[index] = "global" if "global" in (meaning, meanings.get(index)) else meaning
    for at, text in ready.bounds:
        index = _next(edges, at)
        if index is not None and not _ended(ready.data, at, edges[index]):
            bounds.setdefault(index, []).append(text)
    for index, (_, node, body) in enumerate(starts):
        name = _name(node)
        if name:
            *inner, own = name
            scope = (*_scope(node), *inner)
            meaning = meanings.get(index, "nothing")
            yield CudaFunction(path, own, scope, node, body, meaning, tuple(dict.fromkeys(bounds.get(index, ()))))


def _next(edges: list[int], at: int) -> int | None:
    import bisect

    index = bisect.bisect_right(edges, at)
    return index if index < len(edges) else None


def _ended(data: bytes, start: int, end: int) -> bool:
    """True where a declaration ends between a mark and a body: the mark was not that function's."""
    depth = 0
    for byte in data[start:end]:
        depth += (byte in b"([{") - (byte in b")]}")
        if byte == 0x3B and depth <= 0:
            return True
    return False


def below(node: Node) -> Iterator[Node]:
    """The node and everything in it, in source order."""
    cursor = node.walk()
    while True:
        current = cursor.node
        assert current is not None
        yield current
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while True:
            if not cursor.goto_parent():
                return
            if cursor.goto_next_sibling():
                break


def text_of(node: Node | None) -> str:
    """The node's source text."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def plain(node: Node | None) -> str:
    """The node's source text without comments, in one line."""
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*|/\*.*?\*/", " ", text_of(node), flags=re.DOTALL)).strip()


def call_of(node: Node) -> Call | None:
    """A call expression as a `Call`; None for a call of something computed."""
    function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or listed is None:
        return None
    arguments = tuple(n for n in listed.named_children if n.type != "comment")
    receiver: str | None = None
    if function.type == "field_expression":
        receiver = plain(function.child_by_field_name("argument"))
        function = function.child_by_field_name("field")
    scope: list[str] = []
    template: tuple[str, ...] = ()
    while function is not None:
        if function.type == "qualified_identifier":
            scope.append(plain(function.child_by_field_name("scope")))
            function = function.child_by_field_name("name")
        elif function.type in ("template_function", "template_method", "template_type"):
            given = function.child_by_field_name("arguments")
            template = tuple(plain(n) for n in given.named_children) if given is not None else ()
            function = function.child_by_field_name("name")
        elif function.type == "dependent_name":
            function = function.named_children[0] if function.named_children else None
        elif function.type in ("identifier", "field_identifier", "type_identifier"):
            return Call(node, text_of(function), tuple(scope), receiver, template, arguments)
        else:
            return None
    return None


def _function_declarator(node: Node) -> Node | None:
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type != "function_declarator":
        inner = inner.child_by_field_name("declarator") or next(
            (n for n in inner.named_children if n.type.endswith("declarator")), None
        )
    return inner


def _name(node: Node) -> list[str]:
    declarator = _function_declarator(node)
    inner = declarator.child_by_field_name("declarator") if declarator is not None else None
    found: list[str] = []
    while inner is not None:
        if inner.type == "qualified_identifier":
            found.append(plain(inner.child_by_field_name("scope")))
            inner = inner.child_by_field_name("name")
        elif inner.type in ("template_function", "template_method"):
            inner = inner.child_by_field_name("name")
        else:
            found.append(plain(inner))
            return found
    return found


def _scope(node: Node) -> list[str]:
    found: list[str] = []
    parent = node.parent
    while parent is not None:
        if parent.type in ("namespace_definition", "class_specifier", "struct_specifier"):
            name = parent.child_by_field_name("name")
            if name is not None:
                found += reversed(re.split(r"\s*::\s*", re.sub(r"<.*", "", plain(name))))
        parent = parent.parent
    return list(reversed(found))


def _comment_lines(node: Node) -> list[tuple[int, str]]:
    first = node.start_point[0] + 1
    text = text_of(node)
    body = text[2:] if text.startswith("//") else text.removeprefix("/*").removesuffix("*/")
    return [(first + n, line.strip().lstrip("*/").strip()) for n, line in enumerate(body.split("\n"))]


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))
