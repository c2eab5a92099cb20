"""A page in headless Chromium: what it measures of itself at several widths, and what it looks like."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--allow-file-access-from-files",
)  # fmt: skip
MEASURE = """
function measure(frame) {
  const doc = frame.contentDocument, win = frame.contentWindow, root = doc.documentElement;
  const all = (path, inside) => [...(inside || doc).querySelectorAll(path)];
  const box = one => one.getBoundingClientRect();
  const seen = one => one.checkVisibility() && box(one).width > 0 && box(one).height > 0;
  const within = (inner, outer) => inner.left >= outer.left - 6 && inner.right <= outer.right + 6;
  const marks = all("svg.track circle").filter(seen);
  const labels = all("svg.track").filter(seen).map(svg => all("text", svg).map(box));
  return {
    width: root.clientWidth, scrollWidth: root.scrollWidth, mode: doc.compatMode,
    sections: all("[data-section]").map(one => [one.dataset.section, box(one).width * box(one).height]),
    tracks: all("svg.track").filter(seen).length, marks: marks.length,
    narrowest: Math.min(...all("svg.track").filter(seen).map(one => box(one).width)),
    strays: marks.filter(one => !within(box(one), box(one.ownerSVGElement))).length,
    overlaps: labels.flatMap(row => row.slice(1).filter((one, n) => one.left < row[n].right)).length,
    cut: all(".value, .note, .name, .key, figcaption, dd, .heat td").filter(seen)
      .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className + ": " + one.textContent),
    beyond: all(".card *").filter(seen).filter(one => !one.closest(".scroll") && !one.closest("svg"))
      .filter(one => box(one).right > root.clientWidth + 1).map(one => one.tagName + "." + one.className),
    smallest: Math.min(...all("body *").filter(one => seen(one) && one.childNodes.length &&
      [...one.childNodes].some(child => child.nodeType === 3 && child.data.trim()))
      .map(one => parseFloat(win.getComputedStyle(one).fontSize))),
    cells: all(".heat td").filter(seen).length, lines: all(".diff tr").filter(seen).length,
    loaded: win.performance.getEntriesByType("resource").length,
  };
}
"""


def find_chromium() -> str | None:
    """The path of a Chromium; None where none is installed."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def measure(chromium: str, page: Path, widths: tuple[int, ...], folder: Path) -> dict[int, dict[str, Any]]:
    """What the page measures in frames of these widths, by a script outside it: its own policy allows none."""
    frames = "".join(
        f'<iframe src="{page.as_uri()}" style="width:{w}px;height:900px;border:0"></iframe>' for w in widths
    )
    script = MEASURE + (
        "onload = () => { document.getElementById('out').textContent ="
        " JSON.stringify([...document.querySelectorAll('iframe')].map(measure)); };"
    )
    harness = folder / "harness.html"
    text = f"<!DOCTYPE html><meta charset=utf-8><script>{script}</script>{frames}<pre id=out></pre>"
    harness.write_text(text, encoding="utf-8")
    dumped = _run(chromium, folder, "--window-size=1400,1000", "--dump-dom", harness.as_uri())
    found = re.search(r'<pre id="out">(.+?)</pre>', dumped, re.S)
    assert found, dumped[-2000:]
    return dict(zip(widths, json.loads(html.unescape(found[1])), strict=True))


def screenshot(
    chromium: str, page: Path, size: tuple[int, int], folder: Path, *, dark: bool = False
) -> NDArray[np.uint8]:
    """The page's pixels [height, width, 3] in a window of that size; width 500 is the least Chromium makes."""
    out = folder / f"{page.stem}-{size[0]}-{'dark' if dark else 'light'}.png"
    theme = ["--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"]
    _run(chromium, folder, *theme, f"--window-size={size[0]},{size[1]}", f"--screenshot={out}", page.as_uri())
    with Image.open(out) as picture:
        return np.asarray(picture.convert("RGB"))


def _run(chromium: str, folder: Path, *words: str) -> str:
    """What Chromium printed, with a profile of its own in `folder`."""
    profile = folder / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    done = subprocess.run(
        [chromium, *FLAGS, f"--user-data-dir={profile}", *words],
        capture_output=True, text=True, timeout=60, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
