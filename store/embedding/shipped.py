"""Vectors made beforehand: a file beside each record, good for exactly one model and one set of texts.

Layout: 8 bytes of magic, the SHA-256 of the weights, the SHA-256 of the texts, then float16 [sentences, 384].
A file that is missing, or was made from other texts, only costs the time to encode the record again.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from .arrays import F32, I16, np
from .model import DIMENSIONS, WEIGHTS_SHA256

FILE = "vectors.bin"
SCOPE_FILE = Path(__file__).with_name("out_of_scope.bin")
SCOPE_TEXTS = Path(__file__).with_name("out_of_scope.txt")
_MAGIC = b"SKELVEC1"
_HEAD = len(_MAGIC) + 64


def texts_sha256(texts: Sequence[str]) -> str:
    """Hex digest of a list of texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def out_of_scope() -> tuple[str, ...]:
    """Topics near the field that no skeleton treats: what a query is closer to than to any record is no question."""
    lines = SCOPE_TEXTS.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def write_vectors(path: Path, texts: Sequence[str], vectors: F32) -> None:
    """Write the file of one record."""
    path.write_bytes(_MAGIC + bytes.fromhex(WEIGHTS_SHA256) + bytes.fromhex(texts_sha256(texts))
                     + vectors.astype("<f2").tobytes())


def read_vectors(path: Path) -> tuple[str, bytes] | None:
    """The hash of the texts and their vectors (float16, row after row); None where there is no such file."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    known = data[:8] == _MAGIC and data[8:40].hex() == WEIGHTS_SHA256 and len(data) > _HEAD
    if not known or (len(data) - _HEAD) % (2 * DIMENSIONS):
        return None
    return data[40:_HEAD].hex(), data[_HEAD:]


def shipped(folder: Path) -> dict[str, bytes]:
    """Every vector file below `folder` and the one of the topics out of scope, by the hash of the texts."""
    files = (read_vectors(path) for path in (*sorted(folder.glob(f"*/{FILE}")), SCOPE_FILE))
    return dict(file for file in files if file is not None)


def unpack(vectors: bytes | I16, dimensions: int = DIMENSIONS) -> F32:
    """Vectors [n, dimensions] of finite numbers out of their stored form.

    What `astype` gives, in a seventh of its time: the bits of a float16, moved to where a float32 has them, are its
    value times 2^-112.
    """
    bits = np.frombuffer(vectors, "<i2").astype(np.int32)
    bits <<= 13
    bits &= ~0x70000000  # what the sign left behind on its way
    found: F32 = bits.view(np.float32)
    found *= np.float32(2.0 ** 112)
    return found.reshape(-1, dimensions)


def centre(vectors: F32) -> F32:
    """The mean of unit vectors as a unit vector."""
    mean: F32 = vectors.mean(0)
    return mean / max(float(np.sqrt(mean @ mean)), 1e-9)
