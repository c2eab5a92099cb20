"""Writes docs/reference.md from what the code says of itself, and docs/measurements.md: `python -m skel.docs`."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skel.store.schema import CODES

REFERENCE = "docs/reference.md"
REWRITE = "rewrite:"
"""Stands in the docstring of every primitive, before `before -> after`."""
PARTS = (
    ("Primitives", "rewriter/primitives", "The steps of a schedule: one small rewrite each, with its precondition."),
    ("Conditions", "rewriter/conditions", "Named, machine-checked predicates over facts; skeletons list them."),
    ("Detectors", "rewriter/detectors", "What `skel scan` looks for: uses of a skeleton, and places for it."),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A documented thing: its name, and its docstring (empty where it has none)."""

    name: str
    text: str
    assigned: frozenset[str] = frozenset()
    """Names that the module assigns at its top level."""

    def is_listed(self, part: str) -> bool:
        """False for what primitives or detectors only share."""
        if part == "Primitives":
            return REWRITE in self.text
        return part != "Detectors" or "DETECTOR" in self.assigned


def reference(clone: Path) -> str:
    """The whole page for the sources under `clone`."""
    lines = ["# Reference", "", "Written by `make docs` from the docstrings and the table of codes; do not edit."]
    lines += ["", "## Commands", "", "Each takes `--json` and `--db URL`; `skel NAME --help` has the rest.", ""]
    for entry in commands(clone):
        lines += [f"### skel {entry.name}", "", *entry.text.splitlines(), ""]
    for title, folder, meaning in PARTS:
        lines += [f"## {title}", "", f"In `{folder}/`. {meaning}", ""]
        for entry in modules(clone / folder):
            if not entry.is_listed(title):
                continue
            lines += [f"### {entry.name}", "", "```text", *entry.text.splitlines(), "```", ""]
    lines += ["## Codes", "", *_codes("refusal", "Refusals"), "", *_codes("finding", "Findings"), "",
              *_codes("error", "Errors of calls")]
    return "\n".join(lines).rstrip() + "\n"


def commands(clone: Path) -> Iterator[Entry]:
    """Every command in the order of `skel --help`."""
    from skel.cli.app import COMMANDS

    for name, module in COMMANDS.items():
        path = clone / Path(*module.split(".")).with_suffix(".py")
        yield Entry(name, next((docstring(f) for f in _functions(_parse(path)) if f.name == "command"), ""))


def modules(folder: Path) -> Iterator[Entry]:
    """Every public module of a folder, by name, with its docstring."""
    for path in sorted(folder.glob("[!_]*.py")):
        tree = _parse(path)
        targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
        yield Entry(path.stem, docstring(tree), frozenset(t.id for t in targets if isinstance(t, ast.Name)))


def undocumented(folder: Path) -> Iterator[str]:
    """Public modules and functions of a folder that say nothing of themselves."""
    for path in sorted(folder.glob("[!_]*.py")):
        tree = _parse(path)
        if not docstring(tree):
            yield path.name
        for function in _functions(tree):
            if not function.name.startswith("_") and not docstring(function):
                yield f"{path.name}:{function.lineno} {function.name}"


def docstring(node: ast.Module | ast.FunctionDef) -> str:
    """The cleaned docstring of a module or function; empty where there is none."""
    return inspect.cleandoc(ast.get_docstring(node) or "")


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in tree.body if isinstance(node, ast.FunctionDef))


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def _codes(kind: str, title: str) -> Iterator[str]:
    yield from (f"### {title}", "", "| code | message | what to do |", "|---|---|---|")
    for code in CODES.values():
        if code.kind == kind:
            cells = (f"`{code.name}`", code.template, code.hint)
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> None:
    """Write the pages of the clone that holds the working directory."""
    from skel.files import write_whole
    from skel.measurements import MEASUREMENTS, measurements
    from skel.scaffold import find_clone

    clone = find_clone(Path.cwd())
    if clone is None:
        sys.exit("skel.docs: run it inside a clone of the repository")
    write_whole(clone / REFERENCE, reference(clone))
    write_whole(clone / MEASUREMENTS, measurements(clone))


if __name__ == "__main__":
    main()
