"""A wrong element is traced to the store that wrote it, as the interpreter saw it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from skel.store.schema import Verdict
from skel.validation.check import check
from skel.validation.numerics import trees
from skel.validation.numerics.outputs import fact
from skel.validation.numerics.traced import trace

TEXT = (Path(__file__).resolve().parents[3] / "examples" / "gated_norm.py").read_text(encoding="utf-8")
STORE = TEXT.splitlines().index("    tl.store(y + i_m * D + o_d, b_y.to(y.dtype.element_ty), mask=mask)") + 1
PLACES = [{"kernel": "k", "program": [0, 0, 0], "line": 5}, {"kernel": "k", "program": [1, 0, 0], "line": 5}]


def saved(path: Path, rows: list[list[int]], **other: Any) -> Path:
    known = {"y": torch.tensor(rows, dtype=torch.int32)}
    trees.save({"numbers": known, "places": PLACES, "outside": []} | other, path)
    return path


def test_an_element_has_its_program_and_tile(tmp_path: Path) -> None:
    path = saved(tmp_path / "w.pt", [[1, 1, 0], [2, 2, 0]])
    wrong = fact("values_differ", output="y", first_index="[1, 0]")
    (found,) = trace([wrong], path)
    assert found["data"]["writer"] == PLACES[1] | {"tile": [[1, 0], [1, 1]]}
    (found,) = trace([fact("uninitialised_read", output="y", index="[1, 2]")], path)
    assert found["data"]["unwritten"] == PLACES[1] | {"element": [1, 1]}


@pytest.mark.parametrize(
    ("numbers", "other"),
    [
        ([[1]], {}),  # the index is outside
        ([[9, 9, 9], [9, 9, 9]], {}),  # no such place
        ([[1, 1, 1], [1, 1, 1]], {"places": [{"kernel": "k"}]}),
        ([[1, 1, 1], [1, 1, 1]], {"places": 7}),
        ([[1, 1, 1], [1, 1, 1]], {"numbers": {"y": "nonsense"}}),
    ],
)
def test_what_is_odd_in_a_candidates_file_is_left_out(tmp_path: Path, numbers: Any, other: dict[str, Any]) -> None:
    wrong = fact("values_differ", output="y", first_index="[1, 2]")
    assert trace([wrong], saved(tmp_path / "w.pt", numbers, **other)) == [wrong]


def test_a_file_that_is_none_is_left_out(tmp_path: Path) -> None:
    wrong = [fact("values_differ", output="y", first_index="[1, 2]")]
    assert trace(wrong, tmp_path / "missing.pt") == wrong
    (tmp_path / "w.pt").write_bytes(b"no tensors")
    assert trace(wrong, tmp_path / "w.pt") == wrong


@pytest.mark.slow
def test_stores_are_seen_where_kernels_are_interpreted() -> None:
    gap = TEXT.replace("mask = o_d < D\n", "mask = o_d < D - 1\n")
    past = TEXT.replace("b_y.to(y.dtype.element_ty), mask=mask)", "b_y.to(y.dtype.element_ty))")
    moved = TEXT.replace("b_y = b_x *", "b_y = (1 + 0.01 * i_m) * b_x *")
    report = check(TEXT, [gap, past, moved], "gated_norm.py")
    by_name = {one.name: {f.code: f.data for f in reversed(one.all_findings)} for one in report.candidates}
    assert {one.verdict for one in report.candidates} == {Verdict.WRONG}
    first = by_name["candidate 1"]["uninitialised_read"]["unwritten"]
    assert (first["kernel"], first["line"], first["element"]) == ("gated_norm_kernel", STORE, [0, 62])
    writer = by_name["candidate 2"]["out_of_bounds_write"]["writer"]
    assert (writer["program"], writer["line"]) == ([2, 0, 0], STORE)
    seen = by_name["candidate 3"]["values_differ"]["writer"]
    assert (seen["program"], seen["line"], seen["tile"]) == ([1, 0, 0], STORE, [[1, 0], [1, 63]])
