"""Small questions about expressions: names in them, what a name was given, what an index is made of."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from .functions import CudaFunction, below, plain, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DEPTH = 6


def names_in(node: Node | None) -> set[str]:
    """Identifiers in an expression; `blockIdx.x` as one name."""
    if node is None:
        return set()
    found = set()
    for inner in below(node):
        if inner.type == "field_expression" and text_of(inner.child_by_field_name("argument")) in _BUILT_IN:
            found.add(plain(inner))
        elif inner.type in ("identifier", "field_identifier"):
            found.add(text_of(inner))
    return found


_BUILT_IN = frozenset({"blockIdx", "gridDim", "threadIdx", "blockDim"})


@lru_cache(maxsize=64)
def definitions(function: CudaFunction) -> dict[str, list[Node]]:
    """Every value that a local name is given: its initialiser, and what is assigned to it."""
    found: dict[str, list[Node]] = {}
    for node in function.nodes:
        if node.type == "init_declarator":
            target, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        elif node.type == "assignment_expression":
            target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        else:
            continue
        if target is not None and value is not None:
            found.setdefault(declared(target), []).append(value)
    return found


@lru_cache(maxsize=64)
def names_given(function: CudaFunction) -> dict[str, set[str]]:
    """Names in all the values that a local name is given."""
    found = definitions(function).items()
    return {name: set().union(*(names_in(value) for value in values)) for name, values in found}


def declared(node: Node) -> str:
    """The name that a declarator or the target of an assignment gives a value: `x` of `*x`, `x[3]`, `x.y`."""
    for inner in below(node):
        if inner.type == "identifier":
            return text_of(inner)
    return plain(node)


def made_of(function: CudaFunction, node: Node | None, depth: int = _DEPTH) -> set[str]:
    """Names that an expression is computed from, local names followed to what they were given.

    Step by step for all names at once: `depth` then cuts at the same place in every run.
    """
    given = names_given(function)
    found = names_in(node)
    latest = found
    for _ in range(depth):
        latest = set().union(*(given.get(name, set()) for name in latest)) - found
        found = found | latest
    return found


def binaries(function: CudaFunction, *operators: str) -> Iterator[tuple[Node, Node, Node]]:
    """Binary expressions with these operators: the node and its two operands."""
    for node in function.of("binary_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and operator_of(node) in operators:
            yield node, left, right


def operator_of(node: Node) -> str:
    """The operator of a binary or assignment expression."""
    return text_of(node.child_by_field_name("operator"))


def bare(node: Node) -> Node:
    """The expression inside its parentheses and casts."""
    while True:
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            node = node.named_children[0]
        elif node.type == "cast_expression":
            value = node.child_by_field_name("value")
            if value is None:
                return node
            node = value
        else:
            return node


def line_of(node: Node) -> int:
    """The 1-based line that a node starts at."""
    return node.start_point[0] + 1


def inside(node: Node, outer: Node) -> bool:
    """True where a node lies in another."""
    return bool(outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte)


def is_number(node: Node) -> bool:
    """True for a literal number."""
    return bare(node).type == "number_literal"
