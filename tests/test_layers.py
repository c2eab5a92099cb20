"""The layers of docs/design.md, held: who may import whom, read from the imports of every file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("store", "rewriter", "validation", "miner", "skeletons")

# Names that each top-level folder may import; "skel" stands for the command line and the public API.
ALLOWED = {
    "store": {"store"},
    "rewriter": {"rewriter", "store.schema"},
    "validation": {"validation", "rewriter", "store"},
    "miner": {"miner", "validation", "rewriter", "store"},
    "skeletons": set(),
    "skel": {"skel", "miner", "validation", "rewriter", "store", "skeletons"},
}
# Inside the rewriter, outermost first: a part may import those after its own place, or itself.
REWRITER_RANKS = (
    {"engine", "ablation"},
    {"primitives", "detectors"},
    {"conditions"},
    {"analysis"},
    {"kernel", "resolve"},
    {"result", "reasons"},
)
HEAVY = {"torch", "triton", "sqlalchemy", "transformers", "sentence_transformers"}


def python_files(folder: str) -> list[Path]:
    """The Python files of a root folder; of skel/ without the linked folders. Cases and templates are data."""
    files = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT).parts
        linked = parts[0] == "skel" and parts[1] in FOLDERS
        if not linked and "cases" not in parts:
            files.append(path)
    return files


def module_of(path: Path) -> str:
    """`store/schema/base.py` as `skel.store.schema.base`."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] != "skel":
        parts.insert(0, "skel")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(text: str, module: str, is_package: bool) -> list[tuple[int, str]]:
    """Every import as (line, absolute dotted name); `from a import b` gives `a.b`."""
    found: list[tuple[int, str]] = []
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *(node.module.split(".") if node.module else [])])
            found += [(node.lineno, f"{stem}.{alias.name}") for alias in node.names]
    return found


def faults(folder: str, text: str, module: str, is_package: bool = False) -> list[str]:
    """What in this file's imports runs against the layers."""
    wrong = []
    for line, name in imports_of(text, module, is_package):
        head, _, rest = name.partition(".")
        if head in FOLDERS:
            wrong.append(f"line {line}: import skel.{name}, not {name}")
        elif folder == "rewriter" and head in HEAVY:
            wrong.append(f"line {line}: the rewriter never imports {head}")
        elif head == "skel":
            wrong += layer_faults(folder, module, line, rest)
    return wrong


def layer_faults(folder: str, module: str, line: int, imported: str) -> list[str]:
    """`imported` is the name after `skel.`."""
    part = imported.split(".")[0]
    target = part if part in FOLDERS else "skel"
    allowed = ALLOWED[folder]
    if imported == "__version__":  # the package's own version, which every layer may print
        return []
    if target not in allowed and not any(f"{imported}.".startswith(f"{name}.") for name in allowed):
        return [f"line {line}: {folder} may not import skel.{imported}"]
    if folder == target == "rewriter":
        return inner_faults(module, line, imported)
    return []


def inner_faults(module: str, line: int, imported: str) -> list[str]:
    """Inside the rewriter: an inner part may not import an outer one."""
    own, other = rank(module.split(".")[2:]), rank(imported.split(".")[1:])
    if own is not None and other is not None and other < own:
        return [f"line {line}: {module} may not import skel.{imported}, which lies further out"]
    return []


def rank(parts: list[str]) -> int | None:
    """The place of a part of the rewriter in REWRITER_RANKS; None for the package itself."""
    return next((i for i, names in enumerate(REWRITER_RANKS) if parts and parts[0] in names), None)


@pytest.mark.parametrize("folder", [*FOLDERS, "skel"])
def test_imports_keep_the_layers(folder: str) -> None:
    files = python_files(folder)
    assert files
    wrong = [
        f"{path.relative_to(ROOT)} {fault}"
        for path in files
        for fault in faults(folder, path.read_text(encoding="utf-8"), module_of(path), path.name == "__init__.py")
    ]
    assert not wrong, "\n".join(wrong)


def test_every_part_of_the_rewriter_has_a_rank() -> None:
    known = set().union(*REWRITER_RANKS)
    parts = {p.stem for p in (ROOT / "rewriter").iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert parts - known - {"__init__"} == set()


def test_nothing_is_imported_bare() -> None:
    for path in [*(ROOT / "tests").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]:
        parts = path.relative_to(ROOT).parts
        if "golden" in parts or "eval" in parts:
            continue
        names = [name.split(".")[0] for _, name in imports_of(path.read_text(encoding="utf-8"), "tests.x", False)]
        assert not set(names) & set(FOLDERS), path


@pytest.mark.parametrize(
    ("folder", "module", "text"),
    [
        ("store", "skel.store.x", "import store"),
        ("store", "skel.store.x", "from skel.rewriter import result"),
        ("store", "skel.store.x", "from .. import rewriter"),
        ("rewriter", "skel.rewriter.x", "def f():\n    import torch"),
        ("rewriter", "skel.rewriter.x", "from triton import language"),
        ("rewriter", "skel.rewriter.x", "from skel.store import load"),
        ("rewriter", "skel.rewriter.kernel.x", "from ..analysis import facts"),
        ("rewriter", "skel.rewriter.analysis.x", "from skel.rewriter.engine import scan"),
        ("rewriter", "skel.rewriter.result", "from .kernel import source"),
        ("validation", "skel.validation.x", "from skel.cli import main"),
        ("miner", "skel.miner.x", "import skel.doctor"),
        ("skeletons", "skel.skeletons.x", "import skel.store"),
    ],
)
def test_a_wrong_import_is_found(folder: str, module: str, text: str) -> None:
    assert faults(folder, text, module)


@pytest.mark.parametrize(
    ("folder", "module", "text"),
    [
        ("store", "skel.store.x", "from .schema import CODES"),
        ("rewriter", "skel.rewriter.engine.x", "from ..primitives import x\nfrom skel.store.schema import CODES"),
        ("rewriter", "skel.rewriter.conditions.x", "from skel.rewriter.analysis import facts"),
        ("validation", "skel.validation.x", "import torch\nfrom skel.rewriter.engine import candidates"),
        ("skel", "skel.cli.x", "from skel.miner import anything"),
    ],
)
def test_a_right_import_passes(folder: str, module: str, text: str) -> None:
    assert not faults(folder, text, module)


def test_the_links_are_relative_and_lead_to_the_root_folders() -> None:
    for name in FOLDERS:
        link = ROOT / "skel" / name
        assert link.is_symlink() and str(link.readlink()) == f"../{name}"


def test_files_stay_small() -> None:
    over = {
        str(path.relative_to(ROOT)): lines
        for folder in [*FOLDERS, "skel"]
        for path in python_files(folder)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert not over, f"over 400 lines, split them: {over}"
