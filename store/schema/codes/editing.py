"""Refusals of the guard that keeps the original, and of editing itself."""

from .code import refusal

EDITING = (
    # the guard that keeps the original
    refusal(
        "guard_not_possible",
        "no guard can choose between the original and the rewritten kernel: {why}",
        "apply one candidate with --set, where it does not lose",
    ),
    # while editing
    refusal("name_taken", "the new name {name} is already used in {scope}", "rename it"),
    refusal(
        "edits_overlap",
        "two edits of {primitive} touch the same source (line {line})",
        "apply the skeletons one after the other",
    ),
    refusal(
        "inconsistent_result",
        "the rewritten kernel no longer holds what was proved: {what}",
        "please report this kernel; nothing was written",
    ),
)
