"""Runs a kernel file as it is and without each technique given, in Triton's interpreter; a JSON line of differences."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import torch

from skel.rewriter.ablation.registry import INVERSES
from skel.rewriter.ablation.undo import without

SIZE = 40


def result(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"{path.stem}_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(0)
    x, y = torch.rand(SIZE, 16) + 0.5, torch.zeros(SIZE, 16)
    module.kernel[(10,)](x, y, SIZE, EVEN=SIZE % 4 == 0, GROUP=2)
    return y


def main(path: Path, folder: Path) -> None:
    text, expected = path.read_text(encoding="utf-8"), result(path, "expert")
    assert expected.abs().min() > 0
    found = {}
    for inverse in INVERSES:
        if inverse.name not in ("pointers_and_masks", "specialize_again", "dots_in_ieee"):
            after = folder / f"{inverse.name}.py"
            after.write_text(without(text, str(path), "kernel", inverse), encoding="utf-8")
            found[inverse.name] = (result(after, inverse.name) - expected).abs().max().item()
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
