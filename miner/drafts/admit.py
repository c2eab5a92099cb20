"""Whether a draft may be kept: it must do its own examples, its own commits, and nobody else any harm."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import accumulate

from .antiunify import generalise
from .apply import fill, matches, rewrite
from .cluster import Cluster
from .constraints import Constraint, Origins
from .corpus import Version
from .draft import Admission, constraints_of
from .equivalence import all_equivalent, equivalent, integer_names, normal
from .examples import Example
from .terms import Term, holes, parse, show

REPRODUCED = 0.9
"""Part of its examples, and of its own commits' functions, that a draft must do."""
LEAST_UNRELATED = 20
"""Fewer unrelated functions say nothing."""


def admit(
    cluster: Cluster,
    pair: Callable[[Example], tuple[Version, Version] | None],
    unrelated: Iterable[Version],
) -> Admission:
    """Tries a cluster's template. `pair` gives an example's function before and after its commit, `unrelated` functions
    that no commit of the cluster edited. Equal means equal in canonical form; what means the same is decided by the
    normal form of `equivalence`, both syntactic."""
    pairs = {e.place + (e.commit,): (e, found) for e in cluster.examples if (found := pair(e)) is not None}
    origins: dict[tuple[str, ...], Origins] = {key: versions[0].origins for key, (_, versions) in pairs.items()}
    constraints = constraints_of(cluster, lambda e: origins.get(e.place + (e.commit,), {}))
    reasons: list[str] = []
    if cluster.unbound:
        reasons.append("the old text does not say what goes into " + ", ".join(f"H{n}" for n in cluster.unbound))
    reproduced = sum(_makes(cluster.before, cluster.after, e) for e in cluster.examples)
    agreeing = whole = 0
    for _, (old, new) in pairs.values() if not cluster.unbound else ():
        texts, count = rewritten(cluster, constraints, old)
        integers = integer_names(old.origins)
        good = count > 0 and _agrees(old.texts, texts, new.texts, integers)
        agreeing += good
        whole += good and (texts == new.texts or all_equivalent(texts, new.texts, integers))
    tried = refused = same = 0
    for version in unrelated if not cluster.unbound else ():
        tried += 1
        texts, count = rewritten(cluster, constraints, version)
        if count == 0:
            refused += 1
        elif _harmless(version, texts):
            same += 1
    reasons += _reasons(len(cluster.examples), reproduced, len(pairs), agreeing, whole, tried, refused + same)
    left_out = _left_out(cluster)
    if not left_out:
        reasons.append("no function's edits follow from those of the others")
    return Admission(
        examples=len(cluster.examples),
        reproduced=reproduced,
        left_out=left_out,
        functions=len(pairs),
        agreeing=agreeing,
        whole=whole,
        unrelated=tried,
        refused=refused,
        equivalent=same,
        reasons=tuple(reasons),
    )


def _reasons(
    examples: int, reproduced: int, functions: int, agreeing: int, whole: int, tried: int, harmless: int
) -> list[str]:
    found = []
    if reproduced < REPRODUCED * examples:
        found.append(f"makes {reproduced} of its {examples} examples")
    if agreeing < REPRODUCED * functions or not functions:
        found.append(f"agrees with the commit in {agreeing} of {functions} functions")
    if not whole:
        found.append("makes no function as a whole what the commit made it")
    if harmless < tried:
        found.append(f"changes what {tried - harmless} unrelated functions mean")
    if tried < LEAST_UNRELATED:
        found.append(f"was tried on {tried} unrelated functions, fewer than the {LEAST_UNRELATED} it takes")
    return found


def rewritten(cluster: Cluster, constraints: dict[str, Constraint], version: Version) -> tuple[tuple[str, ...], int]:
    """A function's statements after the template, and how many places it had."""
    if version.kernel != cluster.examples[0].kernel:
        return version.texts, 0
    texts, total = [], 0
    for text in version.texts:
        term = parse(text)
        new, count = (
            rewrite(cluster.before, cluster.after, term, constraints, version.origins)
            if term is not None
            else (None, 0)
        )
        texts.append(show(new) if count and new is not None else text)
        total += count
    return tuple(texts), total


def _makes(before: Term, after: Term, example: Example) -> bool:
    bound: dict[str, Term] = {}
    if not matches(before, example.before, bound) or holes(after) - set(bound):
        return False
    return fill(after, bound) == example.after


def _harmless(version: Version, texts: tuple[str, ...]) -> bool:
    integers = integer_names(version.origins)
    return all(equivalent(b, a, integers) for b, a in zip(version.texts, texts, strict=True) if b != a)


def _agrees(old: tuple[str, ...], texts: tuple[str, ...], new: tuple[str, ...], integers: frozenset[str]) -> bool:
    """True where every statement that was rewritten is one of the commit's, or has the normal form of one of them."""
    have, forms = Counter(new), {normal(t, integers) for t in new}
    return all(have[t] > 0 or normal(t, integers) in forms for b, t in zip(old, texts, strict=True) if b != t)


def _left_out(cluster: Cluster) -> int:
    """Functions whose edits a template of all others makes."""
    own: dict[tuple[str, str, str], list[Example]] = defaultdict(list)
    for example in cluster.examples:
        own[example.place].append(example)
    places = sorted(own)
    if len(places) < 2:
        return 0
    templates = [reduce(_joined, dict.fromkeys((e.before, e.after) for e in own[p])) for p in places]
    before = list(accumulate(templates, _joined))
    behind = list(accumulate(reversed(templates), _joined))[::-1]
    count = 0
    for i, place in enumerate(places):
        sides = [*before[max(i - 1, 0) : i], *behind[i + 1 : i + 2]]
        count += all(_makes(*reduce(_joined, sides), e) for e in own[place])
    return count


def _joined(one: tuple[Term, Term], other: tuple[Term, Term]) -> tuple[Term, Term]:
    return generalise(one, other) or one
