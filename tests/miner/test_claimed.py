"""Claims of a source's commits, beside what its code shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.miner import history
from skel.miner.claimed import mine_claims, require_history
from skel.miner.errors import SourceError
from skel.miner.mining import mine
from skel.miner.sources import open_source
from skel.store.database import open_database
from skel.store.mined_query import claims_of
from tests.miner.conftest import commit, git

KERNEL = """import triton
import triton.language as tl


@triton.jit
def norm(x, y, D: tl.constexpr):
    i = tl.program_id(0)
    o = tl.arange(0, D)
    b = tl.load(x + i * D + o)
    tl.store(y + i * D + o, {value})
"""


def test_claims_are_read_once_and_again_when_a_ref_moves(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, {"k.py": KERNEL.format(value="b / tl.sqrt(tl.sum(b * b, 0))")}, "Add a norm")
    faster = KERNEL.format(value="b * tl.rsqrt(tl.sum(b * b, 0))")
    second = commit(repository, {"k.py": faster}, "norm: use rsqrt\n\nKernel time on H100: 12.0 us -> 10.0 us (1.2x)")
    records = tmp_path / "records"
    records.mkdir()
    database = open_database(f"sqlite:///{tmp_path / 'mined.db'}", records)
    source = open_source(str(repository))
    mine(source, database, jobs=1)
    found = mine_claims(source, database)
    assert found is not None and found["claims"] >= 1 and found["new"] == found["claims"]
    claims = [claim for claim in claims_of(database, "div_to_reciprocal") if claim.commit == second]
    assert claims and claims[0].content["before"] == {"value": 12.0, "unit": "us"} and claims[0].outcome == "gain"
    real = history.mine_history
    monkeypatch.setattr(history, "mine_history", lambda *a, **k: pytest.fail("it was read again"))
    assert mine_claims(source, database) == {**found, "new": 0}
    monkeypatch.setattr(history, "mine_history", real)
    git(repository, "branch", "other")
    again = mine_claims(source, database)
    assert again is not None and again["new"] == 0 and again["claims"] == found["claims"]


def test_a_history_cut_short_is_said_before_anything_is_read(repository: Path, tmp_path: Path) -> None:
    for text in ("b", "b + 1"):
        commit(repository, {"k.py": KERNEL.format(value=text)})
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{repository}", "short")
    with pytest.raises(SourceError, match="cut short") as raised:
        require_history(open_source(str(tmp_path / "short")))
    assert raised.value.missing and "unshallow" in raised.value.hint
    require_history(open_source(str(repository)))
