"""Makes every recorded call again in this process and holds it against what was recorded.

`python -m skel.validation.workloads.capture.verify CAPTURE [DEVICE]` prints one JSON list: a line a tensor that a call
returned or changed. It imports the recorded modules, so it runs the user's own code, as the captured command did.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from ...protocol import Correctness
from .archive import Capture
from .replay import CALL, Replay
from .values import RECORDED_SEED, restore


def verify(capture: Capture, device: str) -> list[dict[str, Any]]:
    """By call and tensor: whether it is equal to the bit, within its dtype's tolerance, or differs and by how much.

    Calls whose results were not kept (made-up or regenerated values) are left out. Raises whatever a call raises.
    """
    from ...numerics.device import prepare

    modules = {call["call"]: _module(capture, call) for call in capture.calls if call["executed"]}
    prepare(device)
    found: list[dict[str, Any]] = []
    for number, module in modules.items():
        found += _verify(capture, capture.calls[number], module, device)
    return found


def _verify(capture: Capture, call: dict[str, Any], module: str, device: str) -> list[dict[str, Any]]:
    from ...numerics import trees

    key = str(call["call"])
    replay = Replay(capture, module, [call["call"]])
    inputs = replay.make_inputs(RECORDED_SEED, device, key)
    returned = replay.run(inputs)
    wanted = dict(enumerate(restore(capture, call, "results", RECORDED_SEED, "cpu")))
    got = [leaf for leaf in trees.flatten(returned).values() if hasattr(leaf, "untyped_storage")]
    after = restore(capture, call, "after", RECORDED_SEED, "cpu")
    left = [leaf for name, leaf in trees.flatten(inputs).items() if name != CALL and hasattr(leaf, "untyped_storage")]
    pairs = [(f"result {n}", got[n] if n < len(got) else None, value) for n, value in wanted.items()]
    changed = [n for n, tensor in enumerate(call["tensors"]) if tensor["piece"] in call["changed"]]
    pairs += [(f"tensor {n}", left[n], after[n]) for n in changed]
    kept = [(name, a, b) for name, a, b in pairs if b is not None]
    return [{"call": call["call"], "name": call["name"], "tensor": name, **_compared(a, b)} for name, a, b in kept]


def _compared(got: Any, wanted: Any) -> dict[str, Any]:
    from ...numerics.compare.close import close_difference, tolerance
    from ...numerics.compare.exact import exact_difference

    if got is None or got.shape != wanted.shape or got.dtype != wanted.dtype:
        return {"equal": False, "close": False, "difference": "another form"}
    got = got.detach().cpu()
    if exact_difference(got, wanted) is None:
        return {"equal": True, "close": True, "difference": None}
    rtol = tolerance(str(wanted.dtype).removeprefix("torch."), True, Correctness())
    difference = close_difference(got, wanted, rtol) if rtol else {"count": "integers differ"}
    return {"equal": False, "close": difference is None, "difference": difference}


def _module(capture: Capture, call: dict[str, Any]) -> str:
    """The call's module, imported; of a script only the slice with its launcher."""
    if call["module"] != "__main__":
        return importlib.import_module(call["module"]).__name__
    from ..loading import load_subject
    from .workload import subject_of

    subject = subject_of(Path(call["file"]).read_text(encoding="utf-8"), call["file"], str(capture.path))
    if subject.module not in sys.modules:
        folder = Path(subject.sidecar.path).parent / "slice" if subject.sidecar else Path.cwd()
        folder.mkdir(exist_ok=True)
        load_subject(subject, folder)
    return subject.module


def main() -> None:
    """Reads the capture named on the command line, prints what came of its calls."""
    found = verify(Capture(Path(sys.argv[1])), sys.argv[2] if len(sys.argv) > 2 else "cpu")
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
