"""Refusals while the file is read: no kernel, no launch, what stands in it."""

from .code import refusal

READING = (
    refusal("no_kernel", "{file} holds no @triton.jit kernel", "name a file that holds a Triton kernel"),
    refusal(
        "unknown_kernel", "{file} holds no kernel named {kernel}; it has {have}", "use FILE::KERNEL with one of those"
    ),
    refusal("unparsable", "{file} line {line}: {error}", "fix the syntax error; skel reads Python {python} source"),
    refusal(
        "advice_only",
        "{skeleton} is advice: it is found and explained, it has nothing to apply",
        "read `skel show {skeleton}`",
    ),
    refusal(
        "no_launch_site",
        "no launch of {kernel} was found in the file",
        "put the launcher in the same file, or give --workload with a capture",
    ),
    refusal(
        "several_launch_sites",
        "{kernel} is launched from {count} places (lines {lines}) with different tiles or options; changing one would break another",
        "bring the launches to one tile choice, or fuse a copy of the kernel",
    ),
    refusal(
        "unreadable_launch",
        "the launch of {kernel} cannot be read: {why}",
        "pass the tile and the grid as plain expressions",
    ),
    refusal(
        "slice_unresolved",
        "{name}, which the slice of {module} needs, was not found ({file} line {line})",
        "name another launcher in LAUNCHERS, or give the sidecar a TARGET that holds all it needs",
    ),
    refusal(
        "slice_too_large",
        "the slice of {module} would hold over {count} modules",
        "name fewer LAUNCHERS: a slice is for a kernel and its launcher, not for a package",
    ),
    refusal(
        "slice_needs",
        "the slice of {module} imports {name}, which is not installed here ({file} line {line})",
        "install it, or run where it is",
    ),
)
