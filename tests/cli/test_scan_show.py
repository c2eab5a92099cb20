"""scan --show: hazards are launched alone on small inputs; what shows is a bug, what does not stays what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skel.rewriter.analysis.facts import analyse
from skel.rewriter.detectors import KernelView
from skel.rewriter.detectors.hazards import HAZARDS
from skel.rewriter.engine.witness import NotShown, plans
from skel.rewriter.kernel.definition import load_module
from skel.sarif import sarif
from tests.cli.running import Skel

HEAD = """import torch
import triton
import triton.language as tl


"""
ROWS = """@triton.jit
def {name}(x, y, total, state, slots, stride, V, BV: tl.constexpr, D: tl.constexpr, FLAG: tl.constexpr):
    i_v = tl.program_id(0)
    o_v, o_d = i_v * BV + tl.arange(0, BV), tl.arange(0, D)
    b = tl.load(x + o_v, mask=o_v < V, other=0.0)
{body}


"""
BODIES = {
    "gap": "    tl.store(y + o_v, b)",
    "masked": "    tl.store(y + o_v, b, mask=o_v < V)",
    "gap_behind_flag": "    tl.store(y + o_v, b, mask=o_v < V)\n    if FLAG:\n        tl.store(total + o_v, b)",
    "rows": "    tl.store(y + o_v, b, mask=o_v < V)\n    tl.store(total + i_v * stride + o_d, 1.0)",
    "wide_rows": "    tl.store(y + o_v, b, mask=o_v < V)\n    tl.store(total + i_v.to(tl.int64) * stride + o_d, 1.0)",
    "pool": "    s = tl.load(slots + o_v, mask=o_v < V, other=0)\n"
            "    p = state + (s * stride)[:, None] + o_d[None, :]\n"
            "    c = tl.load(p, mask=(o_v < V)[:, None], other=0.0)\n"
            "    tl.store(y + o_v, b + tl.sum(c, 1), mask=o_v < V)",
    "norm": "    tl.store(y + o_v, b / tl.sqrt(tl.sum(b * b) + 1e-6), mask=o_v < V)",
    "same": "    tl.store(y + o_v, b, mask=o_v < V)\n    tl.store(total, stride)",
    "last": "    tl.store(y + o_v, b, mask=o_v < V)\n    tl.store(total, i_v * 3 + 1.0)",
    "guarded": "    tl.store(y + o_v, b, mask=o_v < V)\n    if i_v == 0:\n        tl.store(total, stride)",
    "lead": "    lead = i_v == 0\n    s = 1.0\n    if lead and FLAG:\n        s = tl.load(state)\n"
            "    tl.store(y + o_v, b, mask=o_v < V)\n    if lead and not FLAG:\n        tl.store(total, s)",
    "decayed": "    s = tl.load(state + o_d) * 0.5\n    tl.store(state + o_d, s)\n"
               "    tl.store(y + o_v, b * tl.sum(s), mask=o_v < V)",
    "raises": "    tl.store(y + o_v, b)\n    tl.static_assert(BV > 1000)",
}
TUNED = """@triton.autotune([triton.Config({"BV": 32}), triton.Config({"BV": 64})], key=["V"])
""" + ROWS.format(name="tuned", body=BODIES["norm"])
FILE = HEAD + "".join(ROWS.format(name=name, body=body) for name, body in BODIES.items()) + TUNED
LAUNCHER = """def run(x, y, V):
    BV = 32
    {check}
    gap[({grid},)](x, y, x, x, x, 1, V, BV=BV, D=16, FLAG=False)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shown") / "hazards.py"
    # What stands at module level must not run: only the kernels' slices do.
    path.write_text(FILE + f"open({str(path.parent / 'ran')!r}, 'w')\nimport no_such_module\n")
    return path


@pytest.fixture(scope="module")
def document(file: Path) -> dict[str, Any]:
    from skel.scan import scan_files
    from skel.scan_shown import show_findings

    found = scan_files([file])
    show_findings(found)
    return found


def findings(document: dict[str, Any], kernel: str, code: str) -> list[dict[str, Any]]:
    return [f for f in document["findings"] if f["place"]["kernel"] == kernel and f["code"] == code]


@pytest.mark.parametrize(
    ("kernel", "code", "said"),
    [
        ("gap", "unmasked_access", "program [1, 0, 0] stores y[6]"),
        ("gap_behind_flag", "unmasked_access", "stores total[6]"),
        ("rows", "offset_may_overflow", "goes to total[-2147483"),
        ("pool", "offset_may_overflow", "with loaded index"),
        ("last", "shared_store", "store 1 and 4 at total[0]"),
        ("decayed", "inplace_shared", "state[0] is"),
        ("tuned", "tile_dependence", "y[0] is"),
    ],
)
def test_what_shows_is_a_bug(document: dict[str, Any], kernel: str, code: str, said: str) -> None:
    (found,) = findings(document, kernel, code)
    assert found["data"]["word"] == "bug" and found["severity"] == "error" and found["measured"] == "interpreter"
    assert said in found["data"]["shown"]["text"] and "not_shown" not in found["data"]
    assert found["data"]["shown"]["input"]["arguments"]["BV"] in (4, 8)


def test_an_overflow_wraps_at_the_limit(document: dict[str, Any]) -> None:
    observed = findings(document, "rows", "offset_may_overflow")[0]["data"]["shown"]["observed"]
    assert observed["exact_offset"] >= 2**31 and observed["offset"] == observed["exact_offset"] - 2**32


def test_a_result_that_depends_on_the_tile_may_be_meant(document: dict[str, Any]) -> None:
    (found,) = findings(document, "norm", "tile_dependence")
    assert found["data"]["word"] == "tile dependence" and found["severity"] != "error"
    values = found["data"]["shown"]["observed"]["values"]
    assert values["BV=8"] != values["BV=4"]


def test_what_does_not_show_stays_a_hazard(document: dict[str, Any]) -> None:
    (same,) = findings(document, "same", "same_value_store")
    (raised,) = findings(document, "raises", "unmasked_access")
    for found in (same, raised):
        assert found["data"]["word"] == "hazard" and found["severity"] != "error" and "shown" not in found["data"]
    assert "nothing wrong" in same["data"]["not_shown"] and "could not be launched" in raised["data"]["not_shown"]


def test_what_is_right_has_no_findings_or_none_that_show(document: dict[str, Any]) -> None:
    for kernel in ("masked", "wide_rows", "guarded"):
        assert not [f for f in document["findings"] if f["place"]["kernel"] == kernel and f["data"].get("shown")]


def test_a_store_of_the_first_tile_is_guarded_whatever_it_stores(document: dict[str, Any]) -> None:
    assert not [f for f in document["findings"] if f["place"]["kernel"] == "lead"]


def test_only_the_slice_was_run(document: dict[str, Any], file: Path) -> None:
    assert not (file.parent / "ran").exists()


def test_sarif_has_the_input(document: dict[str, Any]) -> None:
    results = sarif(document)["runs"][0]["results"]
    shown = [r for r in results if r.get("properties", {}).get("shown")]
    assert len(shown) == 8 and all("shown: " in r["message"]["text"] for r in shown)
    assert sorted({r["level"] for r in shown}) == ["error", "note"]


def test_the_command(skel: Skel, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = skel("scan", str(file), "--show").out
    assert "error bug unmasked_access" in out and "V=6, BV=4, D=4" in out and "  by: " in out and "not shown: " in out
    assert "  shown: " not in skel("scan", str(file)).out

    from skel.validation.isolation import WorkerError

    def missing(*_: object) -> None:
        raise WorkerError("torch is missing")

    monkeypatch.setattr("skel.scan_shown.show_findings", missing)
    assert skel("scan", str(file), "--show").status == 4


def planned(text: str, code: str) -> Any:
    module = load_module(text, "file.py")
    view = KernelView(analyse(module, module.kernels[0]))
    (found,) = [f for hazard in HAZARDS for f in hazard(view) if f.code == code]
    return plans(view, found)


@pytest.mark.parametrize(
    ("check", "grid", "why"),
    [
        ("assert V % BV == 0", "triton.cdiv(V, BV)", "tests what divides what"),
        ("pass", "V // BV", "without rounding up"),
    ],
)
def test_a_launcher_that_sees_to_it_is_believed(check: str, grid: str, why: str) -> None:
    text = HEAD + ROWS.format(name="gap", body=BODIES["gap"]) + LAUNCHER.format(check=check, grid=grid)
    with pytest.raises(NotShown, match=why):
        planned(text, "unmasked_access")
    assert planned(text.replace(check, "pass").replace(f"({grid},)", "(triton.cdiv(V, BV),)"), "unmasked_access")


@pytest.mark.parametrize(
    ("check", "why"),
    [("assert x.numel() < 2**31", "limit of 32 bits"), ("n = torch.cuda.get_device_properties(0).multi_processor_count",
                                                         "number of multiprocessors")],
)
def test_a_launcher_that_bounds_the_offset_is_believed(check: str, why: str) -> None:
    launcher = LAUNCHER.format(check=check, grid="n" if "n =" in check else "triton.cdiv(V, BV)")
    text = HEAD + ROWS.format(name="gap", body=BODIES["rows"]) + launcher
    with pytest.raises(NotShown, match=why):
        planned(text, "offset_may_overflow")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("o_v < V", "o_v < V - 1", "no size of its own"),
        ("i_v = tl.program_id(0)", "i_v = tl.program_id(0) // tl.cdiv(stride, D)", "taken out of a program id"),
        ("y + o_v, b", "y + o_v * BV, b", "laid out in another way"),
    ],
)
def test_what_does_not_fit_is_not_shown_with_the_reason(old: str, new: str, why: str) -> None:
    text = HEAD + ROWS.format(name="gap", body=BODIES["gap"]).replace(old, new)
    with pytest.raises(NotShown, match=why):
        planned(text, "unmasked_access")
