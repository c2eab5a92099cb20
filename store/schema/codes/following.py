"""Findings that follow up others: who wrote it, which step, which figure."""

from .code import finding

FOLLOWING = (
    finding(
        "wrong_element",
        "the first wrong element of {output}, {index}, is written by program {program} of {kernel}, tile {tile}, at line {line}",
        "look at what this tile reads and carries before that line",
    ),
    finding(
        "unwritten_element",
        "{output} {index} is stored by no program; {nearest}",
        "look at the mask of that store, at the grid, and at the tile's offset",
    ),
    finding(
        "written_outside",
        "{bytes} bytes {side} {tensor} are written, first by program {program} of {kernel} at line {line}",
        "mask that store, or launch fewer programs",
    ),
    finding(
        "wrong_step",
        "{step} is the first step after which the result is wrong; it changed {lines}",
        "leave that step out with its decision at `kept`, or look at the statement it changed",
    ),
    finding(
        "wrong_change",
        "{step} is the first after which the result is wrong; it changed {lines}",
        "the statement is at fault, or one that it needs: take it back or correct it, and check again",
    ),
    finding(
        "error_by_workload",
        "{output}: relative RMS error {small:.3g} on {smallest}, {large:.3g} on {largest} ({growth:.3g} times)",
        "an error that grows with the size points at an accumulation; one that does not at a wrong element",
    ),
    finding(
        "figures_changed",
        "{candidate} against the original on {target}: {changes}",
        "the figure that grew most is the first suspect",
    ),
)
