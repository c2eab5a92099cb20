"""Every command, primitive, condition, detector and code says what it is, and docs/reference.md says the same."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import pytest

from skel.docs import PARTS, REFERENCE, REWRITE, commands, modules, reference, undocumented
from skel.measurements import MEASUREMENTS, measurements
from skel.rewriter.engine.registry import PRIMITIVES
from skel.store.schema import CODES, NumericsClass

ROOT = Path(__file__).resolve().parents[1]


def test_the_reference_is_up_to_date() -> None:
    written = (ROOT / REFERENCE).read_text(encoding="utf-8")
    assert written == reference(ROOT), "run `make docs` and commit docs/reference.md"


def test_the_measurements_are_those_of_the_evidence() -> None:
    written = (ROOT / MEASUREMENTS).read_text(encoding="utf-8")
    assert written == measurements(ROOT), "run `make docs` and commit docs/measurements.md"


def test_every_command_says_what_it_does() -> None:
    assert [entry.name for entry in commands(ROOT) if len(entry.text) < 20] == []


@pytest.mark.parametrize("folder", [folder for _, folder, _ in PARTS])
def test_every_module_and_public_function_is_documented(folder: str) -> None:
    assert list(undocumented(ROOT / folder)) == []


def test_undocumented_code_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def shown():\n    pass\n\n\ndef _hidden():\n    pass\n")
    (tmp_path / "b.py").write_text('"""Documented."""\n')
    assert list(undocumented(tmp_path)) == ["a.py", "a.py:1 shown"]


def test_every_primitive_shows_its_rewrite() -> None:
    documented = {entry.name: entry.text for entry in modules(ROOT / "rewriter" / "primitives")}
    for name, primitive in PRIMITIVES.items():
        text = documented[primitive.apply.__module__.rpartition(".")[2]]
        assert re.search(rf"^{REWRITE}(?:[^\n]+\n)*?[^\n]*->", text, re.M), f"{name} has no `rewrite: before -> after`"
        assert primitive.numerics is NumericsClass.BITWISE or "\nNumerics\n" in text, f"{name} has no section Numerics"


@pytest.mark.parametrize("code", CODES.values(), ids=lambda code: code.name)
def test_every_code_has_a_message_and_a_hint(code) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]+", code.name)
    assert code.template.strip() and code.hint.strip()
    assert all(name is None or name.isidentifier() for _, name, _, _ in string.Formatter().parse(code.template))


def used_codes(path: Path) -> list[tuple[int, str]]:
    """The literal codes that a file hands to `refusal`, `refuse` and `finding`."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in ("refusal", "refuse", "finding") and isinstance(node.args[0].value, str):
                found.append((node.lineno, node.args[0].value))
    return found


@pytest.mark.parametrize("folder", ["rewriter", "validation", "miner"])
def test_every_code_in_use_is_in_the_table(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        for line, code in used_codes(path):
            assert code in CODES, f"{path.relative_to(ROOT)}:{line}: {code} is not in the table of codes"


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [entry.name for entry in commands(ROOT) if f"skel {entry.name}" not in text] == []
