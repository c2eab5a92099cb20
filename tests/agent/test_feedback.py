"""Findings that follow up others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from skel.agent.feedback.elements import wrong_elements
from skel.agent.feedback.figures import figures_changed, waves
from skel.agent.feedback.growth import error_growth
from skel.agent.feedback.steps import MOST, Version, by_hunk, by_schedule, changed_lines, first_wrong
from skel.store.load import load_skeleton
from skel.store.packaged import packaged_folder
from skel.store.schema import Verdict

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KDA = (EXAMPLES / "kda_decode.py").read_text(encoding="utf-8")


def differs(output: str = "0", first: str = "[0, 1, 40]", **data: Any) -> dict[str, Any]:
    return {
        "code": "values_differ", "severity": "error", "measured": "interpreter",
        "place": {"workload": "two_tiles"}, "data": {"output": output, "first_index": first, **data},
    }  # fmt: skip


def test_the_program_tile_and_line_of_a_wrong_element() -> None:
    (found,) = wrong_elements([differs("1")], KDA, "kda_decode.py")
    assert found.code == "wrong_element" and found.severity == "error"
    assert found.data == {"output": "1", "index": [0, 1, 40], "program": 1, "tile_lanes": 32}
    assert found.place.line == KDA.splitlines().index("    tl.store(u + i_nh * V + o_v, b_u.to(u.dtype.element_ty), mask=mask_v)") + 1  # fmt: skip # noqa: E501
    assert (found.place.axis, found.place.kernel, found.place.workload) == ("i_v", "kda_decode_kernel", "two_tiles")
    assert "i_v = 1" in found.message and "32 to 63" in found.message


def test_the_first_of_an_output_is_enough() -> None:
    found = wrong_elements([differs("0", "[0, 0, 3]"), differs("0", "[0, 0, 50]"), differs("1")], KDA, "k.py")
    assert [one.data["program"] for one in found] == [0, 1]


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (differs("9"), KDA),  # an output that nobody returns
        (differs("0", "elsewhere"), KDA),
        (differs("0"), KDA.replace("BV = 32", "BV = tile_of(V)")),  # a tile that is no number
        (differs("0"), KDA.replace("i_nh * V + o_v", "i_nh * V + o_v * 2")),  # lanes that are not consecutive
        (differs("0") | {"severity": "warning"}, KDA),
        (differs("0"), "def broken(:"),
        (differs("0"), "x = 1"),
    ],
)
def test_nothing_is_said_where_it_is_not_certain(finding: dict[str, Any], text: str) -> None:
    assert wrong_elements([finding], text, "k.py") == []


WRITER = {"kernel": "row_kernel", "program": [2, 1, 0], "line": 32, "tile": [[2, 0], [2, 63]]}


def test_where_the_source_does_not_tell_it_the_stores_that_were_seen_do() -> None:
    seen = {**differs("y", "[2, 5]"), "data": {"output": "y", "first_index": "[2, 5]", "writer": WRITER}}
    (found,) = wrong_elements([seen], "x = 1", "k.py")
    assert found.code == "wrong_element" and (found.place.file, found.place.line) == ("k.py", 32)
    assert "program (2, 1, 0) of row_kernel, tile [2, 0] to [2, 63], at line 32" in found.message
    assert found.data["program"] == [2, 1, 0] and found.data["index"] == "[2, 5]"


def test_an_element_that_nobody_stored_is_told_with_the_one_before_it() -> None:
    near = {"kernel": "row_kernel", "program": [1, 0, 0], "line": 32, "element": [1, 63]}
    unwritten = {"code": "uninitialised_read", "severity": "error", "measured": "interpreter",
                 "place": {"workload": "w"}, "data": {"output": "0", "index": "[2, 0]", "unwritten": near}}  # fmt: skip
    (found,) = wrong_elements([unwritten], "x = 1", "k.py")
    assert found.code == "unwritten_element" and found.place.line == 32
    assert "output 0 [2, 0] is stored by no program" in found.message
    assert "[1, 63], is by program (1, 0, 0) of row_kernel at line 32" in found.message
    unwritten["data"] = {"output": "0", "index": "[2, 0]", "unwritten": {}}
    (found,) = wrong_elements([unwritten], "x = 1", "k.py")
    assert found.place.line is None and "nothing before it either" in found.message


def test_what_is_written_past_a_memory_is_told_once_with_its_program() -> None:
    data = {"tensor": "the tensor of empty number 1", "side": "after", "bytes": 96, "writer": WRITER}
    past = {"code": "out_of_bounds_write", "severity": "error", "measured": "interpreter",
            "place": {"workload": "w"}, "data": data}  # fmt: skip
    (found,) = wrong_elements([past, past], "x = 1", "k.py")
    assert found.code == "written_outside" and "96 bytes after the tensor of empty number 1" in found.message
    assert found.place.line == 32 and "program (2, 1, 0)" in found.message
    assert wrong_elements([past | {"severity": "warning"}], "x = 1", "k.py") == []


def schedule(settings: dict[str, Any]) -> list[Version]:
    skeleton = load_skeleton(packaged_folder() / "fuse_vtiles" / "skeleton.yaml")
    return by_schedule(skeleton, KDA, "k.py", "kda_decode_kernel", settings)


def test_a_schedule_gives_one_version_a_step_that_changes_something() -> None:
    loop = schedule({"form": "loop", "tile": "kept", "tiles": "all", "num_warps": 2})
    assert ["fuse_axis_loop" in one.step or "set_launch" in one.step for one in loop] == [True, True]
    assert "tiles_per_program=all" in loop[0].step and "num_warps=2" in loop[1].step
    assert "num_warps=2" in loop[1].text and "num_warps=2" not in loop[0].text
    assert len(schedule({"form": "loop", "tile": "kept", "tiles": "all", "num_warps": "kept"})) == 1


BEFORE = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"
AFTER = "a = 1\nb = 20\nc = 3\nd = 40\nd2 = 41\ne = 5\n"


def test_hunks_are_added_one_by_one() -> None:
    first, second = by_hunk(BEFORE, AFTER)
    assert first.text == "a = 1\nb = 20\nc = 3\nd = 4\ne = 5\n" and second.text == AFTER
    assert "line 2" in first.step and "line 4" in second.step
    assert by_hunk(BEFORE, BEFORE) == []


def test_many_hunks_are_not_tried() -> None:
    before = "".join(f"a{n} = 0\nb{n} = 0\n" for n in range(MOST + 1))
    assert by_hunk(before, before.replace("b", "c")) == []


@pytest.mark.parametrize(
    ("verdicts", "named"),
    [
        ([Verdict.WRONG, Verdict.WRONG], "line 2"),
        ([Verdict.EQUIVALENT, Verdict.WRONG], "line 4"),
        ([Verdict.EQUIVALENT, Verdict.EQUIVALENT], None),
        ([Verdict.FAILED, Verdict.WRONG], None),  # the first does not stand alone: the second is not to blame
    ],
)
def test_the_first_wrong_version_is_named(verdicts: list[Verdict], named: str | None) -> None:
    found = first_wrong(BEFORE, by_hunk(BEFORE, AFTER), lambda versions: verdicts, "a.py", "bisection")
    if named is None:
        assert found is None
        return
    assert found is not None and named in found.message and found.code == "wrong_change"


def test_a_change_of_several_lines_is_taken_apart_where_its_lines_stand_alone() -> None:
    after = BEFORE.replace("b = 2\nc = 3", "b = 20\nc = 30")

    def judge(versions: Sequence[Version]) -> list[Verdict]:
        return [Verdict.WRONG if "c = 30" in one.text else Verdict.EQUIVALENT for one in versions]

    found = first_wrong(BEFORE, by_hunk(BEFORE, after), judge, "a.py", "bisection")
    assert found is not None and found.data["statement"] == "c = 30"
    broken = first_wrong(BEFORE, by_hunk(BEFORE, after),
                         lambda them: [Verdict.FAILED if "c = 3\n" in one.text else Verdict.WRONG for one in them],
                         "a.py", "bisection")  # fmt: skip
    assert broken is not None and broken.data["lines"] == [2, 3]


def test_a_single_statement_is_quoted() -> None:
    found = first_wrong(BEFORE, by_hunk(BEFORE, AFTER)[:1], lambda versions: [Verdict.WRONG], "a.py", "bisection")
    assert found is not None and found.data == {"lines": [2], "statement": "b = 20"} and found.place.line == 2


def test_lines_that_went_point_behind_them() -> None:
    assert changed_lines(BEFORE, BEFORE.replace("b = 2\n", "")) == [2]
    assert changed_lines(BEFORE, AFTER) == [2, 4, 5]


def report(name: str, **kernel: Any) -> dict[str, Any]:
    base = {"kernel": "k", "registers": 80, "spill_bytes": 0, "stack_bytes": 0, "shared_memory_bytes": 0,
            "num_warps": 1, "programs": 1024, "instructions": {"shuffles": 30, "barriers": 0}}  # fmt: skip
    return {"candidate": name, "target": "sm_90", "kernels": [base | kernel]}


def test_what_changed_in_a_slower_candidate() -> None:
    changed = {"registers": 255, "spill_bytes": 64, "programs": 256, "instructions": {"shuffles": 334, "barriers": 4}}
    compiled = {"target": "sm_90", "reports": [report("original"), report("wide", **changed)]}
    found = figures_changed(compiled, "wide", "k", "a.py", slower=True)
    assert found is not None and found.severity == "warning"
    for said in ("registers 80 -> 255", "spill bytes 0 -> 64", "shuffles 30 -> 334", "barriers 0 -> 4", "waves"):
        assert said in found.message
    assert found.data["shuffles"] == {"original": 30, "candidate": 334}
    assert found.compared_with and found.cost and found.hint


def test_no_finding_where_nothing_changed_or_nothing_was_compiled() -> None:
    same = {"target": "sm_90", "reports": [report("original"), report("same")]}
    assert figures_changed(same, "same", "k", "a.py", slower=False) is None
    assert figures_changed(same, "absent", "k", "a.py", slower=False) is None


def test_waves_follow_from_what_is_resident() -> None:
    kernel = report("x", registers=64, num_warps=4, programs=132 * 8)["kernels"][0]
    assert waves(kernel, "sm_90") == 1.0  # 64 registers x 128 threads: 8 programs a multiprocessor
    assert waves({**kernel, "shared_memory_bytes": 115_712}, "sm_90") == 4.0  # 2 fit
    assert waves(kernel, "gfx942") is None


def errors(**values: float) -> dict[str, Any]:
    sizes = {"small": 8, "large": 64}
    return {"device": "cpu", "candidates": [{"name": "c", "workloads": [
        {"label": label, "parameters": {"N": sizes[label], "name": "x", "flag": True},
         "errors": {"o": {"candidate_rms_error": value, "reference_rms": 2.0}}}
        for label, value in values.items()
    ]}]}  # fmt: skip


def test_an_error_that_grows_with_the_size_is_told() -> None:
    (found,) = error_growth(errors(large=8e-6, small=1e-6), "c", "a.py")
    assert "5e-07 on small" in found.message and "4e-06 on large" in found.message and "8 times" in found.message


@pytest.mark.parametrize("values", [{"small": 1e-6, "large": 1.5e-6}, {"small": 1e-6}, {"small": 0.0, "large": 1e-6}])
def test_an_error_that_does_not_grow_is_not(values: dict[str, float]) -> None:
    assert error_growth(errors(**values), "c", "a.py") == []
    assert error_growth(errors(**values), "other", "a.py") == []
