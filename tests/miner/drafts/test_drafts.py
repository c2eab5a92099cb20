"""From commits to clusters to drafts: support, sweeps, conditions, and admission."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skel.miner.drafts import Corpus, Draft, admit, cluster, draft, examples_of, known_drafts, read_drafts, write_drafts
from skel.miner.drafts.cluster import Cluster
from skel.miner.drafts.corpus import Version
from skel.miner.drafts.terms import show
from skel.miner.errors import SourceError
from skel.miner.history import GitHistory, MinedCommit, mine_history
from skel.miner.history.cache import HistoryCache

from ..history.repositories import KERNEL, Repository

BODY = KERNEL.split("def scale(")[0]


def kernels(count: int, old: str = "", new: str = "") -> str:
    text = "".join(BODY.split("@triton.jit")[1].replace("scale_kernel", f"k{i}").join(["@triton.jit", ""])
                   for i in range(count))  # fmt: skip
    return BODY.split("@triton.jit")[0] + text.replace(old, new)


def mined(repository: Repository, tmp_path: Path) -> list[MinedCommit]:
    return list(mine_history(repository.path, cache=tmp_path / "h.sqlite", repository="me/r", jobs=1))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "r")
    others = "".join(f"\n\n@triton.jit\ndef u{i}(x):\n    tl.store(x, tl.exp(tl.load(x)) + {i})\n" for i in range(24))
    made.commit("Start", {"k.py": kernels(15), "u.py": BODY.split("@triton.jit")[0] + others})
    return made


WIDE = ("tl.program_id(0)", "tl.program_id(0).to(tl.int64)")
BASE_TWO = ("tl.exp(", "tl.exp2(")


def one(found: list[Cluster], label: str) -> Cluster:
    (cluster_,) = [c for c in found if c.label == label]
    return cluster_


def test_a_sweep_counts_its_kernels_and_is_told(repository: Repository, tmp_path: Path) -> None:
    name = repository.commit("Base two", {"k.py": kernels(15, *BASE_TWO)})
    found = one(cluster(examples_of(mined(repository, tmp_path))), "tl.exp -> tl.exp2")
    assert (found.kernels, found.commits, found.sweeps) == (15, (name,), (name,))
    assert (show(found.before), show(found.after)) == ("tl.exp(b_x - s)", "tl.exp2(b_x - s)")


def test_clusters_generalise_and_keep_how(repository: Repository, tmp_path: Path) -> None:
    text = kernels(4).replace("tl.exp(b_x - s)", "tl.exp(b_x)", 1)
    repository.commit("Another argument", {"k.py": text})
    repository.commit("Base two", {"k.py": text.replace(*BASE_TWO)})
    found = one(cluster(examples_of(mined(repository, tmp_path))), "tl.exp -> tl.exp2")
    assert (show(found.before), show(found.after)) == ("tl.exp(H0)", "tl.exp2(H0)")
    assert len(found.merges) == 1 and found.merges[0].lost > 0 and not found.sweeps


def test_a_harmless_draft_is_admitted(repository: Repository, tmp_path: Path) -> None:
    repository.commit("[Fix] int32 overflow", {"k.py": kernels(15, *WIDE)})
    commits = mined(repository, tmp_path)
    found = one(cluster(examples_of(commits)), "nothing -> to:int64")
    admission = tried(found, repository, tmp_path)
    assert admission.admitted, admission.reasons
    assert (admission.examples, admission.reproduced, admission.functions, admission.whole) == (15, 15, 15, 15)
    assert admission.unrelated == 24 and admission.refused == 24
    made = draft(found, {c.commit: c for c in commits})
    assert (made.before, made.after) == WIDE and made.kernels == 15 and made.sweeps == 1
    assert made.places[0].repository == "me/r"


def test_a_draft_that_changes_what_others_mean_is_not(repository: Repository, tmp_path: Path) -> None:
    text = kernels(4).replace("tl.exp(b_x - s)", "tl.exp(tl.load(x))", 1)
    repository.commit("Another argument", {"k.py": text})
    repository.commit("Base two", {"k.py": text.replace(*BASE_TWO)})
    found = one(cluster(examples_of(mined(repository, tmp_path))), "tl.exp -> tl.exp2")
    admission = tried(found, repository, tmp_path)
    assert not admission.admitted and any("unrelated" in r for r in admission.reasons)
    assert admission.reproduced == admission.examples, "it does its own examples all the same"


def test_what_the_old_text_does_not_say_is_not_guessed(repository: Repository, tmp_path: Path) -> None:
    text = kernels(3)
    for i, mask in enumerate(("m_a", "m_b", "m_c")):
        text = text.replace("mask=o_n < N)\n    tl.store", f"mask={mask})\n    tl.store", 1)
        repository.commit(f"Mask {i}", {"k.py": text})
    found = cluster(examples_of(mined(repository, tmp_path)))
    assert all(not c.unbound or not tried(c, repository, tmp_path).admitted for c in found)


def test_a_revert_and_a_repair_become_conditions(repository: Repository, tmp_path: Path) -> None:
    swept = repository.commit("Base two", {"k.py": kernels(15, *BASE_TWO)})
    repository.git("revert", "--no-edit", swept)
    commits = mined(repository, tmp_path)
    found = one(cluster(examples_of(commits)), "tl.exp -> tl.exp2")
    assert found.commits == (swept,), "the revert is no support for the way back"
    (condition,) = draft(found, {c.commit: c for c in commits}).conditions
    assert condition.startswith("Revert")


def test_drafts_are_files_that_keep_what_a_person_wrote(repository: Repository, tmp_path: Path) -> None:
    repository.commit("Wide", {"k.py": kernels(3, *WIDE)})
    made = draft(one(cluster(examples_of(mined(repository, tmp_path))), "nothing -> to:int64"))
    (path,) = write_drafts([made.model_copy(update={"finished_as": "int64_offsets"})], tmp_path / "out")
    assert write_drafts([made], tmp_path / "out") == [path]
    assert read_drafts(tmp_path / "out") == (made.model_copy(update={"finished_as": "int64_offsets"}),)


def test_admitted_drafts_that_ship_hold_together() -> None:
    found: tuple[Draft, ...] = known_drafts()
    assert len(found) >= 6 and len({d.draft for d in found}) == len(found)
    for one_draft in found:
        assert one_draft.admission is not None and one_draft.admission.admitted and not one_draft.unbound
        assert one_draft.admission.reproduced >= 0.9 * one_draft.admission.examples
        assert one_draft.before.count("\n") < 3 and one_draft.after.count("\n") < 3
    assert len([d for d in found if d.finished_as]) >= 3


def tried(found: Cluster, repository: Repository, tmp_path: Path):  # type: ignore[no-untyped-def]
    with (
        HistoryCache(tmp_path / "h.sqlite") as cache,
        Corpus(GitHistory(repository.path), cache, "me/r") as corpus,
    ):
        own = frozenset((e.path, e.function) for e in found.examples)
        others: list[Version] = [v for _, v in corpus.unrelated(own, 400) if v.kernel]
        return admit(found, corpus.pair, [v for v in others if "tl.exp(tl.load(x))" in str(v.texts)])


@pytest.mark.parametrize(
    "edit",
    ["tl.exp -> tl.exp2", "to:int32 -> to:int64", "boundary_check= -> mask=, other=", "nothing -> cap_raised"],
)
def test_the_families_that_are_known_came_out_as_clusters(edit: str) -> None:
    path = Path(__file__).resolve().parents[1] / "data" / "clusters_measured.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert any(r["edit"] == edit and r["kernels"] >= 5 and r["commits"] >= 2 for r in rows)


def test_a_foreign_file_is_not_written_over_and_a_file_is_no_folder(tmp_path: Path) -> None:
    one = known_drafts()[0]
    foreign = tmp_path / f"{one.draft}.yaml"
    foreign.write_text("mine: [")
    with pytest.raises(SourceError, match="is no draft, and is not written over"):
        write_drafts([one.model_copy(update={"finished_as": None})], tmp_path)
    assert foreign.read_text() == "mine: ["
    with pytest.raises(SourceError, match="drafts cannot be written"):
        write_drafts([one], foreign)
