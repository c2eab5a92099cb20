"""Findings of captures."""

from .code import finding

CAPTURES = (
    finding(
        "command_failed", "the command ended with {status}; what it had launched by then was recorded", "see its output"
    ),
    finding(
        "no_launch_recorded",
        "the command made no Triton launch that could be seen",
        "launches by compiled graphs and from other languages are not seen; run the script itself",
    ),
    finding(
        "values_assumed",
        "the launches were only compiled, so {count} tensors hold made-up values",
        "capture with TRITON_INTERPRET=1, or where there is a GPU",
    ),
    finding(
        "values_regenerated",
        "{count} tensors are made again from statistics of their values",
        "`--values stored` keeps values up to a size",
    ),
    finding(
        "launch_captured_alone",
        "{kernel} was captured as a launch, not as a call of its launcher: {why}",
        "launch it from a function at the top level of its file that takes tensors and plain values",
    ),
    finding(
        "capture_of_other_source",
        "the capture was made of another version of {file}",
        "capture again, or judge the version that was captured",
    ),
    finding(
        "launch_not_replayed",
        "{candidate} changes host code, but {kernel} was captured as a launch: the recorded launch is not its own",
        "launch from a function at the top level of the kernel's file, and capture again",
    ),
)
