"""Anti-unification: the most special term that two terms are instances of. Holes correlate: the same two subterms get
the same hole wherever they meet, before and after an edit alike."""

from __future__ import annotations

from .terms import HOLE, Term

_OPAQUE = frozenset({"Value"})
"""Labels whose insides are no values of their own: they are equal or they differ."""


class Generaliser:
    """Generalises pairs of terms with one table of holes."""

    def __init__(self) -> None:
        self._holes: dict[tuple[Term, Term], str] = {}

    def of(self, one: Term, other: Term) -> Term | None:
        """The common generalisation; None where a part differs that no hole can stand for."""
        if one == other and not _has_hole(one):
            return one
        if isinstance(one, str) or isinstance(other, str):
            return None
        if one[0] == other[0] and len(one) == len(other) and one[0] not in (*_OPAQUE, HOLE):
            parts = [self.of(a, b) for a, b in zip(one[1:], other[1:], strict=True)]
            if all(p is not None for p in parts) and not (one[0] == "Call" and _is_hole(parts[0])):
                return (one[0], *parts)  # type: ignore[arg-type]
        if _is_expression(one) and _is_expression(other):
            return (HOLE, self._holes.setdefault((one, other), str(len(self._holes))))
        return None

    @property
    def pairs(self) -> dict[str, tuple[Term, Term]]:
        """What each hole stands for on either side."""
        return {number: pair for pair, number in self._holes.items()}


def generalise(one: tuple[Term, Term], other: tuple[Term, Term]) -> tuple[Term, Term] | None:
    """The template of two edits (before, after); None where they have no common form. Holes are numbered in the order
    in which the old text meets them."""
    table = Generaliser()
    before, after = table.of(one[0], other[0]), table.of(one[1], other[1])
    if before is None or after is None or isinstance(before, str) or before[0] == HOLE:
        return None
    return numbered(before, after)


def numbered(before: Term, after: Term) -> tuple[Term, Term]:
    """The same template with its holes numbered from 0 in order."""
    names: dict[str, str] = {}

    def walk(term: Term) -> Term:
        if isinstance(term, str):
            return term
        if term[0] == HOLE:
            assert isinstance(term[1], str)
            return (HOLE, names.setdefault(term[1], str(len(names))))
        return (term[0], *(walk(c) for c in term[1:]))

    return walk(before), walk(after)


_STATEMENTS = frozenset(
    "Assign AugAssign AnnAssign Expr Return Decorator Parameter IfHead WhileHead ForHead [] keyword arguments "
    "arg Value Load Store Add Sub Mult Div FloorDiv Mod Pow LShift RShift BitOr BitXor BitAnd MatMult And Or "
    "Not USub UAdd Invert Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn Slice comprehension alias".split()
)
"""Labels of terms that are no expressions, so that no hole can stand for them."""


def _is_expression(term: Term) -> bool:
    return not isinstance(term, str) and term[0] not in _STATEMENTS


def _is_hole(term: Term | None) -> bool:
    """Of a call's function: a template that calls just anything says nothing."""
    return term is not None and not isinstance(term, str) and term[0] == HOLE


def _has_hole(term: Term) -> bool:
    return not isinstance(term, str) and (term[0] == HOLE or any(_has_hole(c) for c in term[1:]))
