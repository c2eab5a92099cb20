"""The tools by name, in the order in which a newcomer would use them."""

from __future__ import annotations

from .tool import Tool
from .tools import (
    add_evidence,
    apply_skeleton,
    benchmark,
    cancel_job,
    capture_workloads,
    check_equivalence,
    explain,
    get_evidence,
    get_job,
    get_skeleton,
    propose_skeleton,
    scan_kernel,
    search_skeletons,
)

TOOLS: dict[str, Tool] = {
    module.TOOL.name: module.TOOL
    for module in (
        search_skeletons,
        get_skeleton,
        scan_kernel,
        explain,
        apply_skeleton,
        check_equivalence,
        benchmark,
        capture_workloads,
        propose_skeleton,
        add_evidence,
        get_evidence,
        get_job,
        cancel_job,
    )
}
