"""The shipped records: each one strict, complete, consistent with the others, and honest about its sources."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from skel.store.schema.skeleton import Skeleton
from skel.store.schema.words import NumericsClass, Purpose

ROOT = Path(__file__).resolve().parents[2] / "skeletons"
FOLDERS = sorted(path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("_"))

REWRITING = {
    "fuse_vtiles": ["fuse_axis_widen", "fuse_axis_loop", "set_launch"],
    "loop_tiles": ["fuse_axis_loop", "set_launch"],
    "div_to_reciprocal": ["div_to_reciprocal"],
    "exp_to_exp2": ["exp_to_exp2"],
    "dot_tf32x3": ["set_dot_precision"],
    "int64_offsets": ["widen_index"],
    "reuse_subexpression": ["reuse_subexpression"],
    "pipeline_loads": ["pipeline_loads"],
    "cache_hints": ["cache_hints"],
    "elide_masks": ["elide_masks"],
    "split_tiles": ["split_tiles"],
    "block_pointer_to_mask": ["block_pointer_to_mask"],
    "relax_specialization": ["relax_specialization"],
    "defer_state_load": ["defer_state_load"],
}
PURPOSES = {
    "dot_tf32x3": Purpose.ACCURACY,
    "two_level_accumulation": Purpose.ACCURACY,
    "int64_offsets": Purpose.SAFETY,
    "unguarded_invariant_store": Purpose.SAFETY,
    "nonlinear_partial": Purpose.SAFETY,
    "block_pointer_to_mask": Purpose.PORTING,
}
LICENCES = {
    "fla-org/flash-linear-attention": "MIT",
    "sgl-project/sglang": "Apache-2.0",
    "deepseek-ai/DeepGEMM": "MIT",
    "deepseek-ai/DeepEP": "MIT",
    "kvcache-ai/Mooncake": "Apache-2.0",
}


def _load(folder: Path) -> Skeleton:
    return Skeleton.model_validate(yaml.safe_load((folder / "skeleton.yaml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def records() -> dict[str, Skeleton]:
    return {folder.name: _load(folder) for folder in FOLDERS}


def test_the_catalogue_is_covered(records: dict[str, Skeleton]) -> None:
    assert len(records) >= 51
    assert set(REWRITING) | set(PURPOSES) <= set(records)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_record_is_valid_and_named_like_its_folder(folder: Path) -> None:
    assert _load(folder).name == folder.name


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_record_has_what_search_and_readers_need(folder: Path) -> None:
    record = _load(folder)
    assert len(record.symptoms.en) >= 5
    assert len(record.symptoms.zh) >= 2
    assert record.tags and record.applies_if
    assert len(set(record.tags)) == len(record.tags)
    assert all(any("\u4e00" <= char <= "\u9fff" for char in text) for text in record.symptoms.zh)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_source_is_a_pinned_place_with_the_licence_of_its_repository(folder: Path) -> None:
    record = _load(folder)
    assert record.sources
    for source in record.sources:
        assert source.licence == LICENCES[source.repository]
        assert not source.path.startswith("/")
        if source.lines is not None:
            first, _, last = source.lines.partition("-")
            assert 0 < int(first) <= int(last or first)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_claim_does_not_contradict_its_own_figures(folder: Path) -> None:
    for claim in _load(folder).evidence:
        if claim.ratio is None:
            continue
        assert claim.ratio > 0, claim.statement
        if claim.outcome == "gain":
            assert claim.ratio > 1, claim.statement
        if claim.outcome == "loss":
            assert claim.ratio < 1, claim.statement


def _figure(text: str | None) -> tuple[float, str] | None:
    """The number and unit of a figure such as `8.5 us`, or None."""
    parts = (text or "").split()
    if len(parts) != 2:
        return None
    try:
        return float(parts[0]), parts[1]
    except ValueError:
        return None


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_ratio_follows_from_the_times_or_rates_beside_it(folder: Path) -> None:
    for claim in _load(folder).evidence:
        before, after = _figure(claim.before), _figure(claim.after)
        if before is None or after is None or claim.ratio is None:
            continue
        assert before[1] == after[1], claim.statement
        is_time = before[1] in {"us", "ms", "s"}
        expected = before[0] / after[0] if is_time else after[0] / before[0]
        assert claim.ratio == pytest.approx(expected, rel=0.03), claim.statement


def test_only_the_rewriting_records_have_a_schedule(records: dict[str, Skeleton]) -> None:
    advice = {name for name, record in records.items() if record.is_advice}
    assert not advice & set(REWRITING)
    for name, primitives in REWRITING.items():
        assert [step.primitive for step in records[name].schedule] == primitives
    for name in advice:
        assert not records[name].decisions, f"{name} is advice and cannot be tuned"


def test_schedule_arguments_are_filled_by_decisions(records: dict[str, Skeleton]) -> None:
    for name, record in records.items():
        decisions = {decision.name for decision in record.decisions}
        used = {
            value[1:]
            for step in record.schedule
            for value in step.arguments.values()
            if isinstance(value, str) and value.startswith("$")
        }
        assert used <= decisions, name


def test_purposes(records: dict[str, Skeleton]) -> None:
    for name, purpose in PURPOSES.items():
        assert records[name].purpose is purpose
    assert {name for name, record in records.items() if record.purpose is not Purpose.SPEED} >= set(PURPOSES)


def test_numerics_of_the_rewriting_records(records: dict[str, Skeleton]) -> None:
    assert records["int64_offsets"].numerics.result is NumericsClass.BITWISE
    assert records["fuse_vtiles"].numerics.result is NumericsClass.REASSOCIATED
    for name in ("div_to_reciprocal", "exp_to_exp2", "dot_tf32x3"):
        assert records[name].numerics.result is NumericsClass.APPROXIMATE


def test_interactions_name_other_records(records: dict[str, Skeleton]) -> None:
    for name, record in records.items():
        for field, others in record.interactions:
            for other in others:
                assert other in records and other != name, f"{name}: {field} names {other}"


@pytest.mark.parametrize("field", ["competes_with", "conflicts_with"])
def test_rivalry_is_mutual(records: dict[str, Skeleton], field: str) -> None:
    for name, record in records.items():
        for other in getattr(record.interactions, field):
            assert name in getattr(records[other].interactions, field), f"{name} -> {other}"


def test_no_two_records_share_a_symptom(records: dict[str, Skeleton]) -> None:
    spoken = Counter(
        text.casefold().strip(" .。")
        for record in records.values()
        for text in (*record.symptoms.en, *record.symptoms.zh)
    )
    assert [text for text, times in spoken.items() if times > 1] == []


def test_records_speak_of_no_machine_of_ours() -> None:
    for folder in FOLDERS:
        text = (folder / "skeleton.yaml").read_text(encoding="utf-8")
        assert "/tmp/" not in text and "/home/" not in text and "/root/" not in text
