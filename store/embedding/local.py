"""Whether a sentence-transformers model is on this machine, told without importing anything that takes seconds."""

import os
from collections.abc import Iterator
from pathlib import Path

_ORGANIZATION = "sentence-transformers"
"""Whose models may be named without it."""


def is_local(name: str) -> bool:
    """Whether `name` is a model's folder, or the name of one in the cache that Hugging Face's libraries use."""
    if any((Path(name) / file).is_file() for file in ("modules.json", "config.json")):
        return True
    names = (name,) if "/" in name else (name, f"{_ORGANIZATION}/{name}")
    if any(part in ("", ".", "..") for part in name.split("/")):
        return False
    return any(any((cache / f"models--{one.replace('/', '--')}" / "snapshots").glob("*/*"))
               for cache in _caches() for one in names)


def _caches() -> Iterator[Path]:
    """The folders that https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables names."""
    for variable in ("SENTENCE_TRANSFORMERS_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    home = os.environ.get("HF_HOME") or os.environ.get("XDG_CACHE_HOME", "~/.cache") + "/huggingface"
    yield Path(home).expanduser() / "hub"
