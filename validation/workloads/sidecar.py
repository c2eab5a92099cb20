"""A sidecar: hooks in a file of their own, for code that cannot be edited. It names its `TARGET`.

The target is loaded under its own module name before the sidecar is, so that the hooks' `import target` finds the
text being judged, original or candidate. Of a file in a package only a slice is loaded, with the slices of the modules
it needs. The sidecar is read here without running it.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from skel.rewriter.kernel.package_slice import PackageSlice, slice_package
from skel.rewriter.reasons import Refuse, refusal
from skel.rewriter.resolve.archives import read_file

from ..subject import Sidecar, SlicedModule, SliceSpec, Subject, module_name
from .target import Declared, SidecarError, Target, find_target, in_package, read_declared, wanted_names


def read_target(text: str, path: str) -> Path:
    """The file that `TARGET = "..."` names, by the rules of `find_target`.

    Raises SidecarError where there is no such assignment of a plain string, or the sidecar cannot be parsed.
    """
    return find_target(read_declared(text, path), path).path


def target_of(sidecar: str) -> tuple[str, str]:
    """Path and text of a sidecar's target; the path may run through an archive.

    Raises SidecarError where it is not found or cannot be read, OSError where the sidecar cannot be read.
    """
    path = read_target(_text(sidecar), sidecar)
    text = read_file(path)
    if text is None:
        raise SidecarError(f"{path} cannot be read as UTF-8 source")
    return str(path), text


def subject_of(text: str, path: str, workload_file: str | None = None) -> Subject:
    """The file at `path` with contents `text`, with its sidecar where one is given.

    Raises SidecarError where the sidecar's target is another file, Refuse(`slice_unresolved`, `slice_needs`,
    `slice_too_large`) where no slice of it can run, OSError where the sidecar cannot be read.
    """
    if workload_file is None:
        return Subject(text, path, module_name(path))
    sidecar_text = _text(workload_file)
    sidecar = Sidecar(workload_file, sidecar_text)
    declared = read_declared(sidecar_text, workload_file)
    target = _target_at(declared, workload_file, path)
    names = wanted_names(declared, target.module or module_name(path))
    if target.root is None and not declared.launchers:
        return Subject(text, path, module_name(path), sidecar)
    if not names:
        why = f"imports nothing from {target.module}"
        raise SidecarError(f"{workload_file} {why}: import a launcher there, or name LAUNCHERS")
    root, relative = target.root or target.path.parent, target.relative or target.path.name
    module = target.module or module_name(path)
    sliced = slice_package(root, module, relative, text, names)
    _require_outside(module, sliced)
    others = tuple(SlicedModule(m.module, m.path, m.text, m.is_package) for m in sliced.modules[1:])
    return Subject(text, path, module, sidecar, SliceSpec(names, relative, others))


def _target_at(declared: Declared, sidecar: str, path: str) -> Target:
    """The target as `path` is it: the same file, the same file of its package elsewhere, or a copy of that name."""
    given = Path(path).resolve()
    wanted = Path(declared.target)
    inside = not wanted.is_absolute() and len(wanted.parts) > 1 and ".." not in wanted.parts
    if inside and given.parts[-len(wanted.parts) :] == wanted.parts:
        return Target(given, Path(*given.parts[: -len(wanted.parts)]), wanted.as_posix())
    beside = (Path(sidecar).parent / declared.target).resolve()
    if given == beside:
        return in_package(given)
    if len(wanted.parts) == 1 or given.name != wanted.name:
        raise SidecarError(f"{sidecar} is for {beside}, not for {path}")
    return find_target(declared, sidecar)


def _require_outside(module: str, sliced: PackageSlice) -> None:
    """Raises Refuse(`slice_needs`) where a module that the slice imports from elsewhere is not installed."""
    missing = []
    for name, file, line in sliced.outside:
        try:
            found = importlib.util.find_spec(name.split(".")[0]) is not None
        except (ImportError, ValueError):
            found = False
        if not found:
            missing.append(refusal("slice_needs", line, module=module, name=name, file=file))
    if missing:
        raise Refuse(missing[0], missing[1:])


def _text(path: str) -> str:
    """Raises SidecarError where the file is no text, OSError where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SidecarError(f"{path} is neither a capture nor a Python file") from error
