"""The report of the flagship in headless Chromium: it fits a phone and a desk, and everything in it is to be seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from skel.report import as_html, view_of
from tests.report.browser import find_chromium, measure, screenshot
from tests.report.flagship import flagship_report
from tests.report.making import checked, losing, piece, timed, unfinished

WIDTHS = (320, 390, 800, 1280)
COLD = {False: (0x1D, 0x5F, 0xD1), True: (0x6A, 0xA5, 0xFF)}
WARM = {False: (0xC6, 0x5D, 0x07), True: (0xFF, 0xA5, 0x52)}
"""Colours of marks in style.css, light and dark."""

chromium = find_chromium()
pytestmark = pytest.mark.skipif(chromium is None, reason="Chromium is not installed (apt-get install chromium)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def flagship(folder: Path) -> Path:
    """The page of the example that the README shows, with its changed lines."""
    return written(folder / "flagship.html", as_html(flagship_report()))


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def measured(flagship: Path, folder: Path) -> dict[int, dict[str, Any]]:
    assert chromium is not None
    return measure(chromium, flagship, WIDTHS, folder)


def fits(found: dict[str, Any]) -> None:
    assert found["mode"] == "CSS1Compat" and found["loaded"] == 0
    assert found["scrollWidth"] <= found["width"], found["beyond"]
    assert found["beyond"] == [] and found["cut"] == [] and found["strays"] == 0 and found["overlaps"] == 0
    assert found["smallest"] >= 11
    assert all(area > 1000 for _, area in found["sections"]), found["sections"]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_flagship_fits(measured: dict[int, dict[str, Any]], width: int) -> None:
    found = measured[width]
    fits(found)
    assert [name for name, _ in found["sections"]] == [
        "verdict", "means", "guard", "workloads", "ranking", "surface", "changes", "compiled", "numerics", "findings",
        "environment",
    ]  # fmt: skip
    assert found["narrowest"] >= 240


def test_all_is_drawn_at_every_width(measured: dict[int, dict[str, Any]]) -> None:
    for name in ("marks", "tracks", "cells", "lines"):
        assert len({found[name] for found in measured.values()}) == 1, name
    found = measured[390]
    assert found["marks"] >= 60 and found["tracks"] >= 50 and found["cells"] >= 20 and found["lines"] >= 10


def test_other_shapes_of_evidence_fit_too(folder: Path) -> None:
    assert chromium is not None
    long = timed(kernel="a_very_long_name_of_a_kernel_that_nobody_would_write_by_hand_" * 2, file="f" * 200)
    report = view_of([piece(one) for one in (checked(), losing(), unfinished(), long)])
    for found in measure(chromium, written(folder / "others.html", as_html(report)), (390, 1280), folder).values():
        fits(found)
        assert found["sections"][0][0] == "overview"


def near(picture: NDArray[np.uint8], colour: tuple[int, int, int]) -> int:
    """How many pixels have that colour, give or take 2."""
    return int((np.abs(picture.astype(int) - colour).max(axis=2) <= 2).sum())


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_what_it_looks_like(flagship: Path, folder: Path, dark: bool) -> None:
    assert chromium is not None
    picture = screenshot(chromium, flagship, (1280, 2600), folder, dark=dark)
    assert picture.shape == (2600, 1280, 3)
    brightness = picture.mean(axis=2)
    assert (np.median(brightness) < 60) if dark else (np.median(brightness) > 230)
    bands = brightness.reshape(26, 100, 1280)
    assert (bands.std(axis=(1, 2)) > 2).all(), "no stretch of 100 pixels is blank"
    assert near(picture, COLD[dark]) > 2000 and near(picture, WARM[dark]) > 1000
