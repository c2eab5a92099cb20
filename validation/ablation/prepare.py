"""`python -m skel.validation.ablation.prepare WHEEL... --out DIR`: the bundle that `run` works off.

Writes DIR/tree.zip, the Python files of the wheels that the cases need, and DIR/plan.json: by file and kernel the edits
that take a technique out, and where the files come from. Nothing of a wheel is imported or run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from skel.rewriter.ablation.registry import INVERSES
from skel.rewriter.ablation.undo import undone
from skel.rewriter.kernel.definition import load_module
from skel.rewriter.reasons import Refuse

from .sources import Source, source_of

Kernels = dict[str, dict[str, Any]]


def prepare(wheels: list[Path], folder: Path) -> dict[str, Any]:
    """Writes the bundle and returns the plan. Raises OSError, zipfile.BadZipFile, and ValueError for other packages."""
    folder.mkdir(parents=True, exist_ok=True)
    plan: dict[str, Any] = {"sources": [], "files": {}}
    part = folder / "tree.zip.part"
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as bundle, tempfile.TemporaryDirectory() as at:
        for wheel in wheels:
            source = source_of(wheel.name)
            plan["sources"].append(source.to_dict())
            for name, data in _files(wheel, source):
                bundle.writestr(name, data)
                place = Path(at) / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
        for place in sorted(Path(at).rglob("*.py")):
            text = place.read_text(encoding="utf-8")
            other = any("ascend" in part for part in place.relative_to(at).parts)
            kernels = _kernels(text, str(place)) if "triton" in text and not other else {}
            if kernels:
                sha = hashlib.sha256(text.encode()).hexdigest()
                plan["files"][place.relative_to(at).as_posix()] = {"sha256": sha, "kernels": kernels}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    part.replace(folder / "tree.zip")
    return plan


def _files(wheel: Path, source: Source) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if source.wants(PurePosixPath(name)):
                yield name, archive.read(name)


def _kernels(text: str, path: str) -> Kernels:
    """By kernel its line and, by inverse, the edits. Kernels that share their name are left out."""
    try:
        module = load_module(text, path)
    except Refuse:
        return {}
    found: Kernels = {}
    for kernel in module.entry_kernels:
        if len(module.kernels_named(kernel.name)) > 1:
            continue
        inverses = {}
        for inverse in INVERSES:
            try:
                edits = undone(module, kernel, inverse)
            except Refuse:
                continue
            inverses[inverse.name] = {
                "technique": inverse.technique,
                "numerics": inverse.primitive.numerics.value,
                "edits": [[edit.start, edit.end, edit.replacement] for edit in edits],
            }
        found[kernel.name] = {"line": kernel.node.lineno, "inverses": inverses}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m skel.validation.ablation.prepare", description=__doc__)
    parser.add_argument("wheels", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    try:
        plan = prepare(given.wheels, given.out)
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    kernels = [kernel for file in plan["files"].values() for kernel in file["kernels"].values()]
    print(f"{len(kernels)} kernels, {sum(len(k['inverses']) for k in kernels)} edits")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
