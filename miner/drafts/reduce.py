"""The smallest parts of a statement that an edit changed."""

from __future__ import annotations

from .terms import HEADS, ITEMS, Term

_UNITS = frozenset({"Call", "Decorator", "Parameter", "Compare", "Attribute", "arguments"})
_ATOMS = frozenset({"Name", "Constant", "Value", "Attribute", ITEMS, "keyword"})


def reductions(before: Term, after: Term) -> list[tuple[Term, Term]]:
    """Smallest changed parts: calls stay whole where their function or their keywords changed, and a part that is a
    mere name or number takes along what is around it. None where nothing changed."""
    if before == after:
        return []
    if isinstance(before, str) or isinstance(after, str):
        return [(before, after)]
    if before[0] != after[0] or len(before) != len(after) or _is_whole(before):
        return [(before, after)]
    changed = [(b, a) for b, a in zip(before[1:], after[1:], strict=True) if b != a]
    if before[0] == "Call":
        return _call(before, after)
    if before[0] == ITEMS:
        return [r for b, a in changed for r in reductions(b, a)]
    if any(_is_atom(b) or _is_atom(a) for b, a in changed) and before[0] not in ("Tuple", "Expr"):
        if not all(_is_list(b) and _is_list(a) and len(b) == len(a) for b, a in changed):
            return [(before, after)]
    found: list[tuple[Term, Term]] = []
    for b, a in changed:
        for part in reductions(b, a):
            if any(_is_bare(side) for side in part):
                return [(before, after)]
            found.append(part)
    return found


def _call(before: Term, after: Term) -> list[tuple[Term, Term]]:
    """`(Call, function, (List, argument, ...), (List, keyword, ...))`."""
    assert not isinstance(before, str) and not isinstance(after, str)
    if before[1] != after[1] or before[3] != after[3] or len(before[2]) != len(after[2]):
        # a method's call whose receiver alone changed is its receiver's change
        receivers = _receivers(before, after)
        return reductions(*receivers) if receivers is not None else [(before, after)]
    found: list[tuple[Term, Term]] = []
    for b, a in zip(before[2][1:], after[2][1:], strict=True):
        for part in reductions(b, a):
            if any(_is_bare(side) for side in part):
                return [(before, after)]
            found.append(part)
    return found


def _receivers(before: Term, after: Term) -> tuple[Term, Term] | None:
    assert not isinstance(before, str) and not isinstance(after, str)
    one, other = before[1], after[1]
    same = before[2:] == after[2:] and not isinstance(one, str) and not isinstance(other, str)
    if same and one[0] == other[0] == "Attribute" and one[2] == other[2] and len(one) == 3:
        inner = one[1], other[1]
        if not any(_is_atom(t) for t in inner):
            return inner
    return None


def _is_whole(term: Term) -> bool:
    """True for parameters, and decorators without arguments: they make sense only as they stand."""
    return term[0] == "Parameter" or (term[0] in HEADS and _is_bare(term[1]))


def _is_bare(term: Term) -> bool:
    return isinstance(term, str) or term[0] in ("Name", "Constant", "Value", "Attribute", "keyword")


def _is_atom(term: Term) -> bool:
    return isinstance(term, str) or term[0] in _ATOMS


def _is_list(term: Term) -> bool:
    return not isinstance(term, str) and term[0] == ITEMS
