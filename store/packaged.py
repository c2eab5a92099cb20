"""Where the packaged skeletons lie, and a fingerprint that changes when any of them does."""

import hashlib
from importlib import resources
from pathlib import Path

_OUT_OF_SCOPE = Path(__file__).parent / "embedding" / "out_of_scope.txt"


def packaged_folder() -> Path:
    """The folder of the skeletons that ship with skel. Raises RuntimeError where they are not plain files."""
    folder = resources.files("skel.skeletons")
    if not isinstance(folder, Path):
        raise RuntimeError(f"skel must be installed as plain files; its skeletons lie in {folder}")
    return folder


def skeleton_files(folder: Path) -> tuple[Path, ...]:
    """Every `NAME/skeleton.yaml` in `folder`, sorted by name."""
    return tuple(sorted(folder.glob("*/skeleton.yaml")))


def evidence_files(folder: Path) -> tuple[Path, ...]:
    """Every `NAME/evidence/*.json` in `folder`, sorted."""
    return tuple(sorted(folder.glob("*/evidence/*.json")))


def fingerprint(folder: Path) -> str:
    """SHA-256 over the names and contents of the records and the evidence in `folder`, and the topics out of scope."""
    digest = hashlib.sha256(_OUT_OF_SCOPE.read_bytes())
    for path in (*skeleton_files(folder), *evidence_files(folder)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
