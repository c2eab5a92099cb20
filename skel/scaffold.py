"""The files of a new skeleton, primitive or detector: a start that loads and whose test runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["skeleton", "primitive", "detector"]
NAME = re.compile(r"[a-z][a-z0-9_]{1,63}")

_FILES: dict[Kind, dict[str, str]] = {
    "skeleton": {
        "skeletons/{name}/skeleton.yaml": "skeleton.yaml.j2",
        "tests/skeletons/test_{name}.py": "skeleton_test.py.j2",
    },
    "primitive": {
        "rewriter/primitives/{name}.py": "primitive.py.j2",
        "tests/rewriter/test_{name}.py": "primitive_test.py.j2",
    },
    "detector": {
        "rewriter/detectors/{name}.py": "detector.py.j2",
        "tests/rewriter/detectors/test_{name}.py": "detector_test.py.j2",
    },
}


NEXT: dict[Kind, str] = {
    "skeleton": "fill in {file}, then run `python -m skel.store.embedding.ship`; CONTRIBUTING.md has the steps",
    "primitive": "fill in {file}, and list it in rewriter/engine/registry.py; CONTRIBUTING.md has the steps",
    "detector": "fill in {file}, and list it in rewriter/detectors/registry.py; CONTRIBUTING.md has the steps",
}
"""What is left to do by hand."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to be written: its path in the clone, and its text."""

    path: Path
    text: str


def draft(kind: Kind, name: str, clone: Path) -> tuple[NewFile, ...]:
    """The files of a new `kind` called `name`. Raises FileExistsError where one of them is there already."""
    files = tuple(
        NewFile(clone / path.format(name=name), render(template, name)) for path, template in _FILES[kind].items()
    )
    for file in files:
        if file.path.exists():
            raise FileExistsError(str(file.path))
    return files


def render(template: str, name: str) -> str:
    """The text of `template` for `name`."""
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=PackageLoader("skel", "templates"), undefined=StrictUndefined, keep_trailing_newline=True,
        autoescape=False,  # the results are Python and YAML, not HTML
    )
    words = name.replace("_", " ")
    return environment.get_template(template).render(name=name, title=words.capitalize(), words=words)


def find_clone(start: Path) -> Path | None:
    """The root of the clone that holds `start`: the folder with skel/, skeletons/ and rewriter/."""
    for folder in (start, *start.parents):
        if all((folder / name).is_dir() for name in ("skel", "skeletons", "rewriter")):
            return folder
    return None
