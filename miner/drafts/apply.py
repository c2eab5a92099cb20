"""Applying a template to statements: everything that is an instance of the old text becomes the new one."""

from __future__ import annotations

from collections.abc import Mapping

from .constraints import Constraint, Origins
from .terms import HOLE, Term

Bindings = dict[str, Term]


def rewrite(
    before: Term, after: Term, term: Term, constraints: Mapping[str, Constraint], origins: Origins
) -> tuple[Term, int]:
    """The term with every instance replaced, outermost first, and how many there were. What was put in is not looked at
    again."""
    bound: Bindings = {}
    if matches(before, term, bound) and all(c.holds(bound[n], origins) for n, c in constraints.items() if n in bound):
        return fill(after, bound), 1
    if isinstance(term, str):
        return term, 0
    children, count = [], 0
    for child in term[1:]:
        new, found = rewrite(before, after, child, constraints, origins)
        children.append(new)
        count += found
    return (term[0], *children), count


def matches(template: Term, term: Term, bound: Bindings) -> bool:
    """True where the term is an instance; `bound` then says what each hole is. A hole is the same term everywhere."""
    if isinstance(template, str) or isinstance(term, str):
        return template == term
    if template[0] == HOLE:
        assert isinstance(template[1], str)
        return bound.setdefault(template[1], term) == term
    if template[0] != term[0] or len(template) != len(term):
        return False
    return all(matches(t, c, bound) for t, c in zip(template[1:], term[1:], strict=True))


def fill(template: Term, bound: Bindings) -> Term:
    """The template with its holes filled. Every hole must be bound."""
    if isinstance(template, str):
        return template
    if template[0] == HOLE:
        assert isinstance(template[1], str)
        return bound[template[1]]
    return (template[0], *(fill(c, bound) for c in template[1:]))
