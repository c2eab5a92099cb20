"""Code given as a query: what the rewriter's detectors see in it, for search."""

from __future__ import annotations

import ast
import re
import textwrap

_IMPORTS = "import triton\nimport triton.language as tl\n"
MAX_CHARACTERS = 200_000


def signals_in(text: str) -> dict[str, str]:
    """The skeletons that a scan of the kernels in `text` names, each with what was seen; empty where none is complete.

    A function that works on Triton's language counts as a kernel although its decorator was not pasted.
    """
    source = _as_module(text[:MAX_CHARACTERS])
    if source is None:
        return {}
    from skel.rewriter.engine import scan

    found: dict[str, str] = {}
    for kernel in scan(source, "query.py").kernels:
        for opportunity in kernel.opportunities:
            found.setdefault(opportunity.skeleton, f"the scan says: {_plain(opportunity.why)}")
        for use in kernel.uses:
            found.setdefault(use.skeleton, f"{kernel.kernel} does this already: {_plain(use.why)}")
    return found


def _plain(why: str) -> str:
    """Without the lines, which count the imports and decorators that were added."""
    return re.sub(r" \(also lines? [^)]*\)", "", why)


def _as_module(text: str) -> str | None:
    """`text` as a module with imports and decorators; None where it has no kernel that parses."""
    text = textwrap.dedent(text)
    if "tl." not in text or "def " not in text:
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = text.splitlines()
    bare = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list
            and any(isinstance(part, ast.Name) and part.id == "tl" for part in ast.walk(node))]
    for node in reversed(bare):
        lines.insert(node.lineno - 1, "@triton.jit")
    return _IMPORTS + "\n".join(lines) + "\n"
