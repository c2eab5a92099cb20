"""A cluster as a draft of a record: a template with constraints on its holes, its sources, its claims and its cases."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from pydantic import Field

from skel.miner.claims import Claim
from skel.miner.history.mine import MinedCommit
from skel.store.schema.base import Record

from .apply import fill, matches
from .cluster import Cluster
from .constraints import Constraint, Origins, join
from .examples import Example
from .terms import Term, holes, show

PLACES, CLAIMS = 12, 6


class Place(Record):
    """Where an edit was seen."""

    repository: str
    commit: str
    path: str
    function: str


class Stated(Record):
    """A claim with the commit that makes it. It is of the whole commit, of which the edit is a part."""

    commit: str
    claim: Claim


class Case(Record):
    """The template with plain names in its holes."""

    before: str
    after: str


class Admission(Record):
    """How a draft did on its own examples and elsewhere."""

    examples: int
    """Edits that the template was made from."""
    reproduced: int
    """Of these, those that it makes itself."""
    left_out: int
    """Functions whose edits a template of the others reproduces."""
    functions: int
    """Functions of its own commits that were rewritten as they stood before."""
    agreeing: int
    """Of these, those in which every rewritten statement is the commit's, or means the same by normal form."""
    whole: int
    """Of these, those that became the commit's function as a whole, by canonical or normal form."""
    unrelated: int
    """Functions of no commit of the cluster that it was tried on."""
    refused: int
    """Of these, those with no place for it."""
    equivalent: int
    """Of these, those in which every rewritten statement means the same by normal form."""
    reasons: tuple[str, ...] = ()
    """Why it is not admitted; none where it is."""

    @property
    def admitted(self) -> bool:
        """True where it may be kept as a hypothesis."""
        return not self.reasons


class Draft(Record):
    """A hypothesis about an edit, for somebody to name and to finish."""

    draft: str
    """A short hash of the template: its name until it has one."""
    edit: str
    """API tokens and facts that go, and those that come."""
    before: str
    """The old text; `H0`, `H1`, ... are holes."""
    after: str
    unbound: tuple[str, ...] = ()
    """Holes of the new text that the old one does not fill."""
    constraints: dict[str, Constraint] = Field(default_factory=dict)
    kernels: int
    repositories: tuple[str, ...]
    commits: int
    sweeps: int
    """Commits among them that edited many functions at once."""
    places: tuple[Place, ...]
    claims: tuple[Stated, ...] = ()
    conditions: tuple[str, ...] = ()
    """Subjects of later commits that repaired or took back such an edit, with their commits."""
    cases: tuple[Case, ...] = ()
    admission: Admission | None = None
    finished_as: str | None = None
    """The record that somebody made of it."""


def draft(
    cluster: Cluster,
    commits: Mapping[str, MinedCommit] | None = None,
    origins: Callable[[Example], Origins] | None = None,
) -> Draft:
    """The draft of a cluster. `commits`: the mined commits by name, for claims and conditions. `origins`: where the
    names of an example's function come from; without it holes are constrained by kind alone."""
    commits = commits or {}
    places = list(
        dict.fromkeys(
            Place(repository=e.repository, commit=e.commit, path=e.path, function=e.function) for e in cluster.examples
        )
    )
    stated = [Stated(commit=n, claim=c) for n in cluster.commits if n in commits for c in commits[n].claims]
    template = f"{show(cluster.before)} => {show(cluster.after)}"
    return Draft(
        draft=hashlib.sha256(template.encode()).hexdigest()[:12],
        edit=cluster.label,
        before=show(cluster.before),
        after=show(cluster.after),
        unbound=tuple(f"H{n}" for n in cluster.unbound),
        constraints={f"H{n}": c for n, c in sorted(constraints_of(cluster, origins).items(), key=lambda p: int(p[0]))},
        kernels=cluster.kernels,
        repositories=cluster.repositories,
        commits=len(cluster.commits),
        sweeps=len(cluster.sweeps),
        places=tuple(places[:PLACES]),
        claims=tuple(stated[:CLAIMS]),
        conditions=tuple(_conditions(cluster, commits.values())),
        cases=(_case(cluster),),
    )


def constraints_of(cluster: Cluster, origins: Callable[[Example], Origins] | None) -> dict[str, Constraint]:
    """The join of what each hole stood for, over all examples."""
    seen: dict[str, list[tuple[Term, Origins]]] = defaultdict(list)
    for example in cluster.examples:
        bound: dict[str, Term] = {}
        if matches(cluster.before, example.before, bound):
            of = origins(example) if origins is not None else {}
            for number, term in bound.items():
                seen[number].append((term, of))
    return {number: join(terms) for number, terms in seen.items()}


def _conditions(cluster: Cluster, commits: Iterable[MinedCommit]) -> list[str]:
    """Repairs that later took the same tokens out again of functions that the cluster edited, and reverts of it."""
    edited = {(e.path, e.function) for e in cluster.examples}
    names, added = set(cluster.commits), set(cluster.added)
    found = []
    for commit in commits:
        if commit.commit in names or not (commit.fixes or commit.reverts):
            continue
        taken_back = commit.reverts and any(n.startswith(commit.reverts) for n in names)
        undone = any(
            (p.path, p.edit.name) in edited and added & set(p.edit.removed) for p in commit.edits if p.edit.statements
        )
        if taken_back or (added and undone):
            found.append(f"{commit.subject[:100]} ({commit.commit[:10]})")
    return found[:PLACES]


def _case(cluster: Cluster) -> Case:
    """The template with the names `a`, `b`, ... in its holes; no text of a source."""
    numbers = sorted(holes(cluster.before) | holes(cluster.after), key=int)
    bound: dict[str, Term] = {n: ("Name", ("Value", repr(chr(97 + int(n) % 26)))) for n in numbers}
    return Case(before=show(fill(cluster.before, bound)), after=show(fill(cluster.after, bound)))
