"""Clusters of edits: first by the API tokens and facts that changed, then by what their texts have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from skel.miner.history.mine import SWEEP

from .antiunify import generalise, numbered
from .examples import Example
from .terms import HOLE, Term, holes, show, size, subterms

SHARED = 0.5
"""A merged template keeps at least this part of the smaller one."""
MOST = 48
"""Templates of one block that are compared with each other; rarer ones stay alone."""


@dataclass(frozen=True, slots=True)
class Merge:
    """One step of the dendrogram: two templates that became one, and how many nodes were lost."""

    one: str
    other: str
    lost: int


@dataclass(frozen=True)
class Cluster:
    """Edits that one template describes."""

    removed: tuple[str, ...]
    """API tokens and facts that the edits take out."""
    added: tuple[str, ...]
    """API tokens and facts that they bring in."""
    before: Term
    after: Term
    examples: tuple[Example, ...]
    merges: tuple[Merge, ...] = ()

    @property
    def label(self) -> str:
        """`tl.exp -> tl.exp2`."""
        return f"{', '.join(self.removed) or 'nothing'} -> {', '.join(self.added) or 'nothing'}"

    @property
    def unbound(self) -> tuple[str, ...]:
        """Holes of the new text that the old one does not fill: somebody has to say what goes there."""
        return tuple(sorted(holes(self.after) - holes(self.before), key=int))

    @property
    def kernels(self) -> int:
        """Functions that were edited so: what support is counted in."""
        return len({e.place for e in self.examples})

    @property
    def repositories(self) -> tuple[str, ...]:
        return tuple(sorted({e.repository for e in self.examples}))

    @property
    def commits(self) -> tuple[str, ...]:
        return tuple(sorted({e.commit for e in self.examples}))

    @property
    def sweeps(self) -> tuple[str, ...]:
        """Commits that each edited more functions than one looks at one by one."""
        of: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
        for example in self.examples:
            of[example.commit].add(example.place)
        return tuple(sorted(c for c, places in of.items() if len(places) > SWEEP))


def cluster(examples: Iterable[Example], *, least: int = 2) -> list[Cluster]:
    """Clusters with at least `least` functions, the best supported first."""
    blocks: dict[tuple[bool, tuple[str, ...], tuple[str, ...]], list[Example]] = defaultdict(list)
    for example in examples:
        blocks[(example.kernel, example.removed, example.added)].append(example)
    found: list[Cluster] = []
    for block in blocks.values():
        if len({e.place for e in block}) >= least:
            found += [c for c in _agglomerate(_same_shape(block)) if c.kernels >= least]
    return sorted(found, key=lambda c: (-c.kernels * len(c.repositories), c.label, show(c.before), show(c.after)))


def _same_shape(block: list[Example]) -> list[Cluster]:
    """One cluster for all edits that differ only in names and numbers that the old text has already."""
    shapes: dict[tuple[Term, Term, tuple[Term, ...]], list[Example]] = defaultdict(list)
    for example in block:
        old = set(subterms(example.before))
        new = tuple(t for t in subterms(example.after) if t[0] in ("Name", "Constant") and t not in old)
        shapes[(_blank(example.before), _blank(example.after), new)].append(example)
    found = []
    for members in shapes.values():
        pairs = list(dict.fromkeys((e.before, e.after) for e in members))
        template = reduce(lambda t, p: generalise(t, p) or t, pairs, pairs[0])
        found.append(Cluster(members[0].removed, members[0].added, *numbered(*template), tuple(members)))
    return sorted(found, key=lambda c: (-c.kernels, show(c.before), show(c.after)))


def _blank(term: Term) -> Term:
    """The term without names and constants, except those of the language."""
    if isinstance(term, str):
        return term
    if term[0] == "Name" and term[1] not in (("Value", "'tl'"), ("Value", "'triton'"), ("Value", "'torch'")):
        return ("Name",)
    if term[0] == "Constant":
        return ("Constant",)
    return (term[0], *(_blank(c) for c in term[1:]))


def _agglomerate(clusters: list[Cluster]) -> list[Cluster]:
    """Merges the two templates that lose least, again and again."""
    live, rest = clusters[:MOST], clusters[MOST:]
    kept = list(live)  # so that no cluster gets the identity of one that is gone
    known: dict[tuple[int, int], tuple[int, tuple[Term, Term]] | None] = {}
    while True:
        candidates = []
        for i in range(len(live)):
            for j in range(i + 1, len(live)):
                key = id(live[i]), id(live[j])
                if key not in known:
                    known[key] = _merged(live[i], live[j])
                found = known[key]
                if found is not None:
                    candidates.append((found[0], i, j, found[1]))
        if not candidates:
            return [*live, *rest]
        lost, i, j, template = min(candidates, key=lambda c: c[:3])
        one, other = live[i], live[j]
        step = Merge(_text(one), _text(other), lost)
        joined = Cluster(
            one.removed,
            one.added,
            *template,
            one.examples + other.examples,
            (*one.merges, *other.merges, step),
        )
        kept.append(joined)
        live = [c for k, c in enumerate(live) if k not in (i, j)] + [joined]


def _merged(one: Cluster, other: Cluster) -> tuple[int, tuple[Term, Term]] | None:
    """The nodes lost and the template of both; None where it would say too little, or leave more to guess."""
    template = generalise((one.before, one.after), (other.before, other.after))
    if template is None or template[1][0] == HOLE:
        return None
    before, after = template
    kept = size(before) + size(after)
    sizes = [size(c.before) + size(c.after) for c in (one, other)]
    if kept < SHARED * min(sizes):
        return None
    if len(holes(after) - holes(before)) > max(len(one.unbound), len(other.unbound)):
        return None
    return sum(sizes) - 2 * kept, template


def _text(cluster: Cluster) -> str:
    return f"{show(cluster.before)} => {show(cluster.after)}"
