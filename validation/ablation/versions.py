"""What a recorded launch is held against: the kernel without a technique, or launched in another way."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from skel.rewriter.kernel.edits import Edit, apply_edits

from ..timing.recording import Launch
from .capture import Captured

MOST_WARPS = 16


@dataclass(frozen=True, slots=True)
class Version:
    """A launch without a technique."""

    name: str
    """Of the inverse, or of the change of the launch."""
    technique: str
    numerics: str
    """How far results may move: a numerics class."""
    change: str
    """What was changed, in words."""
    launch: Launch


class Modules:
    """Loads changed files as modules of their own, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: dict[str, ModuleType] = {}

    def load(self, original: Path, text: str, package: str | None) -> ModuleType:
        """The text as a module. Its own helpers are its own; what it imports is what the original imports."""
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        if key not in self._loaded:
            name = f"without_{original.stem}_{key}"
            path = self._folder / f"{name}.py"
            path.write_text(text, encoding="utf-8")
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            module.__package__ = package
            # Relative imports are looked up by the package's name, which a spec of its own would contradict.
            module.__spec__ = None
            sys.modules[name] = module
            exec(compile(text, str(path), "exec", dont_inherit=True), module.__dict__)
            self._loaded[key] = module
        return self._loaded[key]


def versions(captured: Captured, inverses: Mapping[str, Any], modules: Modules) -> Iterator[Version]:
    """Everything that the launch is held against."""
    yield from _without(captured, inverses, modules)
    yield from _launched_otherwise(captured)


def _without(captured: Captured, inverses: Mapping[str, Any], modules: Modules) -> Iterator[Version]:
    launch = captured.launch
    path = Path(launch.file)
    text = path.read_text(encoding="utf-8")
    package = sys.modules[launch.function.fn.__module__].__package__
    for name, inverse in inverses.items():
        changed = apply_edits(text, [Edit(*edit) for edit in inverse["edits"]])
        function = getattr(modules.load(path, changed, package), launch.kernel)
        while not hasattr(function, "arg_names") or hasattr(function, "configs") or hasattr(function, "values"):
            function = function.fn
        change = f"{len(inverse['edits'])} edit{'s' if len(inverse['edits']) > 1 else ''}"
        yield Version(name, inverse["technique"], inverse["numerics"], change, _with(launch, function, {}))


def _launched_otherwise(captured: Captured) -> Iterator[Version]:
    launch = captured.launch
    warps = _option(launch, "num_warps")
    for name, other in (("half_the_warps", warps // 2), ("twice_the_warps", warps * 2)):
        # Of a tuned kernel the first configuration says more.
        if captured.chosen is None and 1 <= other <= MOST_WARPS and (name == "half_the_warps" or warps == 1):
            yield _otherwise(launch, name, "num_warps", {"num_warps": other}, f"num_warps {warps} to {other}")
    stages = launch.options.get("num_stages")
    if isinstance(stages, int) and stages > 1:
        yield _otherwise(launch, "one_stage", "pipeline_loads", {"num_stages": 1}, f"num_stages {stages} to 1")
    if captured.chosen is not None:
        yield from _configured_otherwise(captured)


def _configured_otherwise(captured: Captured) -> Iterator[Version]:
    launch, chosen = captured.launch, captured.chosen
    first = captured.tuner.every_config[0].all_kwargs()
    if first != chosen.all_kwargs() and _fits(captured, first):
        changed = {key: value for key, value in first.items() if launch.options.get(key) != value}
        words = ", ".join(f"{key} {launch.options.get(key)} to {value}" for key, value in changed.items())
        yield _otherwise(launch, "first_configuration", "widen_autotune", first, words)
    tile = {key: value for key, value in chosen.kwargs.items() if isinstance(value, int) and key.startswith("B")}
    others = [{key: config.kwargs.get(key) for key in tile} for config in captured.tuner.every_config]
    smaller = [
        other
        for other in others
        if other != tile and all(isinstance(v, int) and v <= tile[k] for k, v in other.items())
    ]
    if smaller and callable(launch.grid):
        other = max(smaller, key=lambda sizes: math.prod(v for v in sizes.values() if v is not None))
        words = ", ".join(f"{key} {tile[key]} to {value}" for key, value in other.items() if value != tile[key])
        yield _otherwise(launch, "smaller_tile", "fuse_vtiles", other, words)


def _fits(captured: Captured, options: Mapping[str, Any]) -> bool:
    """True where only options of the launch change, or the grid follows the tile."""
    tiles = set(captured.chosen.kwargs)
    return callable(captured.launch.grid) or all(
        captured.launch.options.get(key) == value for key, value in options.items() if key in tiles
    )


def _otherwise(launch: Launch, name: str, technique: str, options: Mapping[str, Any], words: str) -> Version:
    return Version(name, technique, "reassociated", words, _with(launch, launch.function, options))


def _with(launch: Launch, function: Any, options: Mapping[str, Any]) -> Launch:
    return replace(launch, function=function, options={**launch.options, **options}, compiled=None)


def _option(launch: Launch, name: str) -> int:
    """The option as launched: set there, or the compiler's default."""
    value = launch.options.get(name)
    if isinstance(value, int):
        return value
    metadata = getattr(launch.compiled, "metadata", None)
    return int(getattr(metadata, name, 4))
