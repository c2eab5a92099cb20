"""The cases beside the records: what should be rewritten is, to the golden file; the others refuse with their code."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from skel.rewriter.engine.apply import candidates
from skel.rewriter.engine.candidate import Candidates
from skel.rewriter.result import Bug
from skel.store.schema.skeleton import Case, Skeleton

ROOT = Path(__file__).resolve().parents[2] / "skeletons"


def _cases() -> list[tuple[Skeleton, Path, Case]]:
    found = []
    for path in sorted(ROOT.glob("*/skeleton.yaml")):
        record = Skeleton.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        found += [(record, path.parent, case) for case in record.cases]
    return found


CASES = _cases()
NAMES = [f"{record.name}/{Path(case.file).stem}" for record, _, case in CASES]


@pytest.mark.parametrize(("record", "folder", "case"), CASES, ids=NAMES)
def test_case(record: Skeleton, folder: Path, case: Case) -> None:
    path = folder / case.file
    result = candidates(record, path.read_text(encoding="utf-8"), str(path), settings=case.settings)
    assert not isinstance(result, Bug), result
    if case.expect == "refuse":
        assert not isinstance(result, Candidates)
        assert case.refusal in {r.code for r in result.refusals}
        return
    assert isinstance(result, Candidates), result.refusals
    assert case.after is not None
    golden = (folder / case.after).read_text(encoding="utf-8")
    assert golden in [c.text for c in result.items]


def test_every_rewriting_record_with_cases_applies_and_refuses() -> None:
    for name in {r.name for r, _, _ in CASES}:
        expected = [c.expect for r, _, c in CASES if r.name == name]
        assert expected.count("rewrite") >= 2 and expected.count("refuse") >= 2, name
