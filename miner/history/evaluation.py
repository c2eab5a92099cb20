"""How much of a list of known evidence the miner finds.

`python -m skel.miner.history.evaluation LIST NAME=REPOSITORY...`

The list is JSON lines, an `Expectation` each. Commits of repositories that are not given are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from skel.miner.claims import Claim, Quantity
from skel.store.schema.base import Record

from .mine import MinedCommit, mine_commits, mine_history


class Number(Record):
    """A number that stands in a message; the fields that are given must all be in one claim."""

    before: Quantity | None = None
    after: Quantity | None = None
    value: Quantity | None = None
    ratio: float | None = None
    percent: float | None = None

    def stands_in(self, claim: Claim) -> bool:
        """True where a claim has every field as given."""
        return all(getattr(claim, name) == value for name, value in self if value is not None)


class Expectation(Record):
    """What is known of one commit."""

    repository: str
    commit: str
    """The first digits of its name."""
    techniques: tuple[str, ...] = ()
    """Records of which one is right; none where no record describes the edit."""
    numbers: tuple[Number, ...] = ()
    """Numbers of its message; none where they stand elsewhere."""


class Row(Record):
    """What was found of one commit."""

    repository: str
    commit: str
    mined: bool
    """The miner lists it as a commit that changed kernels or launchers."""
    numbers: bool | None = None
    """All its numbers were found; None where its message has none."""
    technique: bool | None = None
    """It was put into a right technique; None where there is none."""
    first: bool | None = None
    """That technique ranks first."""
    attributed: tuple[str, ...] = ()


class Evaluation(Record):
    """The rows and their sums."""

    rows: tuple[Row, ...] = Field(default=())

    def share(self, field: str) -> tuple[int, int]:
        """Rows for which a field is true, and rows for which it is not None."""
        values = [getattr(r, field) for r in self.rows if getattr(r, field) is not None]
        return sum(values), len(values)


def evaluate(commits: Iterable[MinedCommit], expectations: Iterable[Expectation]) -> Evaluation:
    """Compares what was mined with what is known."""
    wanted = list(expectations)
    found: dict[tuple[str, str], MinedCommit] = {}
    for mined in commits:
        for known in wanted:
            if mined.repository == known.repository and mined.commit.startswith(known.commit):
                found[(known.repository, known.commit)] = mined
    return Evaluation(rows=tuple(_row(e, found.get((e.repository, e.commit))) for e in wanted))


def _row(known: Expectation, mined: MinedCommit | None) -> Row:
    claims = mined.claims if mined is not None else ()
    names = [a.skeleton for a in mined.techniques] if mined is not None else []
    return Row(
        repository=known.repository,
        commit=known.commit,
        mined=mined is not None,
        numbers=all(any(n.stands_in(c) for c in claims) for n in known.numbers) if known.numbers else None,
        technique=bool(set(names) & set(known.techniques)) if known.techniques else None,
        first=bool(names) and names[0] in known.techniques if known.techniques else None,
        attributed=tuple(names),
    )


def read_expectations(path: Path) -> list[Expectation]:
    """The expectations of a file. Raises ValueError for a line that is none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Expectation.model_validate_json(line) for line in lines if line.strip()]


def main(arguments: list[str] | None = None) -> int:
    """Prints one row a commit and the sums. 0 where every share is at least 80 %."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("repositories", nargs="+", metavar="NAME=REPOSITORY")
    parser.add_argument("--full", type=Path, metavar="FOLDER", help="mine whole histories, kept in this folder")
    chosen = parser.parse_args(arguments)
    repositories = dict(r.split("=", 1) for r in chosen.repositories)
    known = [e for e in read_expectations(chosen.list) if e.repository in repositories]
    rows: list[Row] = []
    for name, path in repositories.items():
        own = [e for e in known if e.repository == name]
        if chosen.full is None:
            mined = mine_commits(path, [e.commit for e in own], repository=name)
        else:
            mined = mine_history(path, cache=chosen.full / f"{name.replace('/', '+')}.sqlite", repository=name)
        rows += evaluate(mined, own).rows
    result = Evaluation(rows=tuple(rows))
    sys.stdout.write(json.dumps(result.model_dump(mode="json"), indent=1) + "\n")
    good = True
    for field in ("mined", "numbers", "technique", "first"):
        hit, total = result.share(field)
        sys.stderr.write(f"{field}: {hit} of {total}\n")
        good = good and (field == "first" or hit >= 0.8 * total)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
