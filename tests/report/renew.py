"""Makes anew what is committed of reports: `python -m tests.report.renew`, then read the difference and look at it.

The golden Markdown; and, where Chromium is installed, the README's picture of the flagship's report.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image

from skel.report import as_html
from tests.report.browser import find_chromium, screenshot
from tests.report.flagship import ROOT, flagship_report
from tests.report.test_markdown import GOLDEN, made_golden

PICTURE = ROOT / "docs" / "report.png"
WIDTH, HEIGHT = 1000, 1196
"""Of one of the picture's two columns."""
COLOURS = 160


def renew_picture(chromium: str) -> None:
    """The upper part of the page in two columns, in few colours to keep it small."""
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "page.html"
        page.write_text(as_html(flagship_report()), encoding="utf-8")
        whole = Image.fromarray(screenshot(chromium, page, (WIDTH, 2 * HEIGHT), Path(name)))
    picture = Image.new("RGB", (2 * WIDTH, HEIGHT))
    picture.paste(whole.crop((0, 0, WIDTH, HEIGHT)), (0, 0))
    picture.paste(whole.crop((0, HEIGHT, WIDTH, 2 * HEIGHT)), (WIDTH, 0))
    picture.quantize(COLOURS).save(PICTURE, optimize=True)


if __name__ == "__main__":
    GOLDEN.write_text(made_golden(), encoding="utf-8")
    if found := find_chromium():
        renew_picture(found)
