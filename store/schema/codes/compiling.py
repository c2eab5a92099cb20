"""Findings of the compile check."""

from .code import finding

COMPILING = (
    finding(
        "compile_failed", "{candidate} does not compile for {target}: {error}", "another tile or warp count may fit"
    ),
    finding(
        "compile_timeout", "{candidate} took over {seconds} s to compile for {target}", "smaller tiles compile faster"
    ),
    finding("spills", "{candidate} spills {bytes} bytes a thread on {target}", "more warps or a smaller tile"),
    finding(
        "over_shared_memory",
        "{candidate} needs {bytes} bytes of shared memory, {target} has {limit}",
        "a smaller tile or fewer stages",
    ),
    finding(
        "registers_changed",
        "{candidate} uses {after} registers a thread, the original {before}",
        "registers bound how many programs are resident",
    ),
    finding(
        "reduction_crosses_warps",
        "the reduction of {candidate} crosses {warps} warps, so it goes through shared memory",
        "fewer warps keep it inside one",
    ),
    finding("no_compiler", "the compile check needs {what}, which is missing here", "install it; see `skel doctor`"),
)
