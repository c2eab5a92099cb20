"""pipeline_loads. Used: in a loop, one stage is waited for while later ones load.

full[stage]->wait(phase) beside empty[stage]->arrive()     a ring of barriers
cp.async.wait_group N, with N of 1 or more                 groups in flight
"""

from __future__ import annotations

import re

from skel.rewriter.detectors.base import Seen

from ..expressions import inside
from ..functions import Call, CudaFunction
from ..index import CudaDetector, Index

_GROUPS = re.compile(r"cp\.async\.wait_group\s+[1-9]")
_INDEX = re.compile(r"\w+\[([^\]]+)\]$")


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    found = []
    for loop in function.loops:
        calls = [call for call in function.calls if inside(call.node, loop)]
        waits = {_stage(call): call for call in calls if call.name == "wait" and _stage(call)}
        arrives = {_stage(call) for call in calls if call.name.startswith("arrive") and _stage(call)}
        found += [Seen(waits[stage].line, f"waits for stage {stage} of a ring of barriers, and hands it on")
                  for stage in waits if stage in arrives]  # fmt: skip
        for call in calls:
            if call.name in ("cp_async_wait", "cp_async_wait_group") and call.template[:1] not in ((), ("0",)):
                found.append(Seen(call.line, f"leaves {call.template[0]} groups of copies in flight"))
        for line, text in function.assembly:
            if _GROUPS.search(text) and loop.start_point[0] < line <= loop.end_point[0] + 1:
                found.append(Seen(line, "leaves groups of copies in flight"))
    return sorted(set(found))[:1]


def _stage(call: Call) -> str:
    match = _INDEX.search(call.receiver or "")
    return match.group(1).strip() if match is not None and not match.group(1).strip().isdigit() else ""


DETECTOR = CudaDetector("pipeline_loads", _uses)
