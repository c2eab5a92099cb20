"""Reading a safetensors file in place: the file is mapped, and only the pages that are used are read.

Format: https://huggingface.co/docs/safetensors (8 bytes of header length, a JSON header, the tensors).
"""

import json
import mmap
from pathlib import Path

from .arrays import F32, np


def read_float32(path: Path) -> dict[str, F32]:
    """Every float32 tensor of the file, by name, as read-only views. Raises OSError and ValueError."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    return {
        name: np.frombuffer(data, np.float32, (entry["data_offsets"][1] - entry["data_offsets"][0]) // 4,
                            start + entry["data_offsets"][0]).reshape(entry["shape"])
        for name, entry in header.items() if name != "__metadata__" and entry["dtype"] == "F32"
    }
