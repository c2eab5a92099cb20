"""What the tests of detectors share: small files, and what is seen in their kernel."""

from __future__ import annotations

from skel.rewriter.analysis.facts import analyse
from skel.rewriter.detectors import DETECTORS, KernelView
from skel.rewriter.kernel.definition import load_module

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n"


def seen(text: str, kernel: str = "kernel") -> tuple[set[str], set[str]]:
    """Techniques used and opportunities, by name, of a kernel in a file."""
    module = load_module(HEAD + text, "file.py")
    (one,) = module.kernels_named(kernel)
    view = KernelView(analyse(module, one))
    uses = {name for name, detector in DETECTORS.items() if detector.uses(view)}
    return uses, {name for name, detector in DETECTORS.items() if detector.opportunities(view)}
