"""Mining whole histories: resumable, incremental, with claims, sweeps, repairs and reverts."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.miner.history import mine as mining
from skel.miner.history import mine_commits, mine_history
from skel.miner.history.cache import HistoryCache

from .repositories import KERNEL, Repository

WIDER = KERNEL.replace(", 8)", ", 32)")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "r")
    made.commit("Add scale", {"k.py": KERNEL, "README.md": "x\n"})
    made.commit("Wider value tile\n\nscale: 121 us -> 76 us at batch 512 on B200", {"k.py": WIDER})
    made.commit("Docs", {"README.md": "y\n"})
    return made


def test_a_commit_has_its_edits_claims_and_technique(repository: Repository) -> None:
    added, wider = mine_history(repository.path, repository="me/r", jobs=1)
    assert added.kernels == ("k.py::scale_kernel",) and not added.sweep
    assert (wider.repository, wider.subject) == ("me/r", "Wider value tile")
    assert wider.techniques[0].skeleton == "fuse_vtiles" and wider.techniques[0].words
    (claim,) = wider.claims
    assert claim.before is not None and claim.after is not None
    assert (claim.before.value, claim.after.value, claim.after.unit, claim.gpu) == (121, 76, "us", "B200")


def test_named_commits_are_mined_alike(repository: Repository) -> None:
    everything = {m.commit: m for m in mine_history(repository.path, jobs=1)}
    for name, mined in everything.items():
        assert list(mine_commits(repository.path, [name])) == [mined]


def test_a_second_run_reads_only_what_is_new(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache" / "h.sqlite"
    first = list(mine_history(repository.path, cache=cache, jobs=1))
    submitted: list[int] = []
    original = mining.ProcessPoolExecutor.submit

    def counted(pool, function, wanted):  # type: ignore[no-untyped-def]
        submitted.append(len(wanted))
        return original(pool, function, wanted)

    monkeypatch.setattr(mining.ProcessPoolExecutor, "submit", counted)
    assert list(mine_history(repository.path, cache=cache, jobs=1)) == first
    assert submitted == []
    repository.commit("Back", {"k.py": KERNEL})
    assert len(list(mine_history(repository.path, cache=cache, jobs=1))) == len(first) + 1
    assert submitted == [1]


def test_a_run_that_was_killed_goes_on(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(6):
        repository.commit(f"Step {i}", {"k.py": KERNEL.replace("- s", f"- s * {i}")})
    monkeypatch.setattr(mining, "CHUNK", 1)
    cache = tmp_path / "h.sqlite"

    def kill(done: int, total: int) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(mine_history(repository.path, cache=cache, jobs=1, progress=kill))
    with HistoryCache(cache) as kept:
        before = len(kept.commits())
    assert 3 <= before < 9
    seen: list[tuple[int, int]] = []
    found = list(mine_history(repository.path, cache=cache, jobs=1, progress=lambda d, t: seen.append((d, t))))
    assert found == list(mine_history(repository.path, jobs=1))
    assert seen[-1] == (9, 9) and [d for d, _ in seen] == sorted(d for d, _ in seen)


def test_a_broken_cache_is_built_again(repository: Repository, tmp_path: Path) -> None:
    cache = tmp_path / "h.sqlite"
    cache.write_bytes(b"no database at all" * 100)
    assert len(list(mine_history(repository.path, cache=cache, jobs=1))) == 2


def test_sweeps_repairs_and_reverts_are_told(repository: Repository) -> None:
    many = "".join(KERNEL.split("def scale(")[0].replace("scale_kernel", f"k{i}") + "\n" for i in range(14))
    repository.commit("Many", {"many.py": many})
    swept = repository.commit("Base two", {"many.py": many.replace("tl.exp(", "tl.exp2(")})
    repository.commit("[Fix] offsets overflow", {"k.py": WIDER.replace("program_id(0)", "program_id(0).to(tl.int64)")})
    repository.git("revert", "--no-edit", swept)
    by_subject = {m.subject.split('"')[0].strip(): m for m in mine_history(repository.path, jobs=1)}
    assert by_subject["Base two"].sweep and len(by_subject["Base two"].kernels) == 14
    assert by_subject["Base two"].techniques[0].skeleton == "exp_to_exp2"
    fix = by_subject["[Fix] offsets overflow"]
    assert fix.fixes and fix.techniques[0].skeleton == "int64_offsets" and not fix.reverts
    assert by_subject["Revert"].reverts == swept and not by_subject["Revert"].techniques[0].adds


def test_tests_and_benchmarks_are_nobodys_optimization(repository: Repository) -> None:
    name = repository.commit("Test", {"tests/test_k.py": KERNEL})
    assert name not in {m.commit for m in mine_history(repository.path, jobs=1)}
