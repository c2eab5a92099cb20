"""The page: self-contained, the same for the same evidence, and nothing that evidence says becomes markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skel.report import as_html, as_markdown, view_of
from skel.report.changes import Change, Changes
from skel.store.schema import Evidence
from tests.report.making import checked, losing, piece, timed, unfinished

SECTIONS = ["verdict", "changes", "compiled", "numerics", "findings", "environment"]
TIMED = ["verdict", "means", "guard", "workloads", "ranking", "surface", *SECTIONS[1:]]
HOSTILE = """</td></style><script>alert("x")</script><img src=x onerror='y'>&lt;{{ 7 * 7 }}{% raw %}"""
VOID = {"meta", "br"}


class Tags(HTMLParser):
    """Tags with the names of their attributes, in order; all text; and tags that are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.text = ""
        self.values: list[str] = []
        self.open: list[str] = []
        self.misplaced: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.values += [value or "" for _, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.misplaced.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def page(*evidence: Evidence) -> str:
    return as_html(view_of([piece(one) for one in evidence]))


def sections(text: str) -> list[str]:
    return re.findall(r'data-section="(\w+)"', text)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (timed(), TIMED),
        (losing(), [one for one in TIMED if one != "means"]),
        (checked(), ["verdict", "untimed", *SECTIONS[1:]]),
        (unfinished(), ["verdict", "untimed", *SECTIONS[1:]]),
    ],
    ids=["timed", "losing", "checked", "unfinished"],
)
def test_every_shape_of_evidence_has_its_sections(evidence: Evidence, expected: list[str]) -> None:
    text = page(evidence)
    assert sections(text) == expected
    parsed = Tags(text)
    assert parsed.open == [] and parsed.misplaced == []
    assert f"v-{evidence.verdict}" in text


def test_several_pieces_have_an_overview_that_leads_to_them() -> None:
    text = page(timed(), checked(), losing())
    assert sections(text)[0] == "overview" and sections(text).count("verdict") == 3
    assert (
        set(re.findall(r'href="#(e\d)"', text)) == set(re.findall(r'<article id="(e\d)"', text)) == {"e1", "e2", "e3"}
    )


def test_the_page_needs_nothing_from_outside_and_runs_nothing() -> None:
    text = page(timed(), checked())
    assert "default-src 'none'" in text
    for outside in (
        "<script",
        "<link",
        "<img",
        "<iframe",
        "@import",
        "url(",
        "src=",
        "javascript:",
        "http://",
        "https://",
    ):
        assert outside not in text


def test_the_same_evidence_gives_the_same_bytes() -> None:
    assert page(timed(), losing()) == page(timed(), losing())


def test_every_ratio_and_interval_is_on_the_page() -> None:
    text = page(timed())
    for row in timed().workloads:
        for name, one in row["candidates"].items():
            for mode, found in one["ratio"].items():
                said = f"{mode} {found['median']:.3f} ({found['low']:.3f} to {found['high']:.3f})"
                assert said in text, (name, said)


def replaced(value: Any, with_text: str) -> Any:
    """Every text inside, and the names of every open dict, replaced; numbers stay."""
    if isinstance(value, dict):
        return {key: replaced(one, with_text) for key, one in value.items()} | {with_text: with_text}
    if isinstance(value, list | tuple):
        return [replaced(one, with_text) for one in value]
    return with_text if isinstance(value, str) else value


def filled(evidence: Evidence, with_text: str) -> Evidence:
    """The evidence with `with_text` in every field that is free text, as far as its form allows."""
    content = evidence.model_dump()
    for field in ("settings", "workloads", "compile", "numerics", "timing", "protocol"):
        content[field] = replaced(content[field], with_text)
    for field in ("kernel", "file", "source_sha256", "skeleton"):
        content[field] = with_text
    content["environment"] = {
        key: with_text if isinstance(value, str) or value is None else value
        for key, value in content["environment"].items()
        if key not in ("clock_mhz", "power_watts", "multiprocessors", "l2_bytes")
    }
    one = {"code": with_text, "message": with_text, "hint": with_text, "measured": with_text, "severity": with_text,
           "place": dict.fromkeys(("file", "kernel", "axis", "parameter", "workload"), with_text)}  # fmt: skip
    content["findings"] = [one, {**one, "severity": "error"}]
    return Evidence.model_validate(content)


def named(evidence: Evidence, name: Callable[[str], str]) -> Evidence:
    """The evidence with workloads and candidates called otherwise: names that are keys."""
    content = evidence.model_dump()
    for row in content["workloads"]:
        row["label"], row["chosen"] = name(row["label"]), name(row.get("chosen", "original"))
        if "candidates" in row:
            row["candidates"] = {name(key): one for key, one in row["candidates"].items()}
            row["own"] = {"name": name("own")}
    for entry in content["timing"].get("screening", ()):
        entry["candidate"], entry["workload"] = name(entry["candidate"]), name(entry["workload"])
        entry["settings"] = {name(key): name(str(value)) for key, value in entry["settings"].items()}
    return Evidence.model_validate(content)


@pytest.mark.parametrize("shape", [timed, losing, checked, unfinished], ids=lambda one: one.__name__)
@pytest.mark.parametrize("how", ["filled", "named"])
def test_what_evidence_says_is_never_markup(shape: Callable[[], Evidence], how: str) -> None:
    def made(text: str) -> str:
        if how == "filled":
            return page(filled(shape(), text))
        return page(named(shape(), lambda name: f"{text}{name}"))

    hostile, harmless = Tags(made(HOSTILE)), Tags(made("x" * 9))
    assert hostile.tags == harmless.tags
    assert hostile.open == [] and hostile.misplaced == []
    assert HOSTILE in hostile.text
    assert not any(name.startswith("on") for _, names in hostile.tags for name in names)
    assert {"script", "img"}.isdisjoint(tag for tag, _ in hostile.tags)


def test_changed_lines_are_never_markup() -> None:
    (article,) = view_of([piece(timed())]).articles
    before, after = f"a = '{HOSTILE}'\nb\n", f"a = '{HOSTILE}{HOSTILE}'\nb\n"
    changes = Changes((Change(HOSTILE, before, after, HOSTILE, HOSTILE),), (HOSTILE,))
    text = as_html(replace(view_of([]), articles=(replace(article, changes=changes),)))
    parsed = Tags(text)
    assert {"script", "img"}.isdisjoint(tag for tag, _ in parsed.tags)
    assert parsed.text.count("alert") == 7 and "<mark>" in text


def test_control_characters_and_reversed_writing_are_left_out() -> None:
    text = page(timed(kernel="a\x1b[31mb\u202ec\x00d", file="x\x07.py"))
    assert "a[31mbcd" in text
    assert not set(text) & set("\x1b\u202e\x00\x07")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
KEYS = (
    "candidates", "ratio", "cold", "warm", "median", "low", "high", "microseconds", "of_floor", "floor", "cold_us",
    "chosen", "label", "own", "name", "control", "screening", "settings", "num_warps", "form", "geometric_mean",
    "clocks", "ceilings", "seeds", "reference", "samples", "variants", "errors", "cases_passed", "launches", "original",
)  # fmt: skip
ODD = st.recursive(
    JSON,
    lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=6) | st.lists(inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.dictionaries(st.sampled_from(KEYS), ODD, max_size=6), max_size=2),
    st.dictionaries(st.sampled_from(KEYS), ODD, max_size=8),
    st.dictionaries(st.sampled_from(KEYS), ODD, max_size=4),
)
def test_no_form_of_the_open_fields_breaks_a_report(
    rows: list[dict[str, Any]], timing: dict[str, Any], other: dict[str, Any]
) -> None:
    odd = timed(workloads=rows, timing=timing, compile=other, numerics=other, protocol=other, settings=other)
    report = view_of([piece(odd)])
    parsed = Tags(as_html(report))
    assert parsed.open == [] and parsed.misplaced == []
    assert as_markdown(report).startswith("<!-- skel report -->")
