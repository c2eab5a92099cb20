"""A sidecar: hooks in a file of their own, for code that cannot be edited. It names its `TARGET`.

The target is loaded under its own module name before the sidecar is, so that the hooks' `import target` finds the
text being judged, original or candidate. The sidecar is read here without running it.
"""

from __future__ import annotations

import ast
from pathlib import Path

from ..subject import Sidecar, Subject, module_name


class SidecarError(Exception):
    """The sidecar names no target, or not the file that is judged."""


def read_target(text: str, path: str) -> Path:
    """The file that `TARGET = "..."` names, relative to the sidecar's folder.

    Raises SidecarError where there is no such assignment of a plain string, or the sidecar cannot be parsed.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise SidecarError(f"{path} line {error.lineno}: {error.msg}") from error
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "TARGET" for t in node.targets):
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                return (Path(path).parent / node.value.value).resolve()
            raise SidecarError(f"{path} line {node.lineno}: TARGET must be a plain string")
    raise SidecarError(f'{path} has no TARGET = "..."')


def subject_of(text: str, path: str, workload_file: str | None = None) -> Subject:
    """The file at `path` with contents `text`, with its sidecar where one is given.

    Raises SidecarError where the sidecar's target is another file, OSError where it cannot be read.
    """
    if workload_file is None:
        return Subject(text, path, module_name(path))
    sidecar_text = Path(workload_file).read_text(encoding="utf-8")
    target = read_target(sidecar_text, workload_file)
    if target != Path(path).resolve():
        raise SidecarError(f"{workload_file} is for {target}, not for {path}")
    return Subject(text, path, module_name(path), Sidecar(workload_file, sidecar_text))
