"""Findings of timing."""

from .code import finding

TIMING = (
    finding("no_gpu", "there is no GPU here: nothing was timed", "run `skel bench` where there is one"),
    finding(
        "memory_bound",
        "{kernel} runs at {fraction:.0%} of the memory floor on {workload}",
        "nothing that saves arithmetic can help further",
    ),
    finding(
        "below_floor",
        "{candidate} is faster than the memory allows ({measured_us:.2f} us, floor {floor_us:.2f} us)",
        "something was not run or was cached",
    ),
    finding(
        "control_failed",
        "original against original gave {ratio:.3f} on {workload}",
        "the machine was not quiet; measure again",
    ),
    finding(
        "own_numbers",
        "decided with numbers that are not the protocol's: {numbers}",
        "measure without --number for a verdict that may be compared",
    ),
    finding("slower_here", "{candidate} is slower on {workload}: {ratio:.3f}x", "the guard keeps the original there"),
    finding(
        "own_configuration_better",
        "{own} leaves {candidate} behind on {workload}: the rewritten version reaches {ratio:.3f} of its speed",
        "the launch alone gains more there: set these options where the original is launched",
    ),
    finding(
        "guard_emitted",
        "the original is kept where {condition}",
        "measured ranges only; other shapes keep the original",
    ),
    finding(
        "too_few_programs",
        "{candidate} leaves {programs} programs for {multiprocessors} multiprocessors",
        "a partial fusion keeps more programs",
    ),
    finding(
        "untimed_work",
        "{candidate} does work outside its launches that the original does not ({operations}); it was not timed",
        "do that work in a kernel, or before the data comes to it",
    ),
    finding(
        "clock_low",
        "the clock was low too often on {workload}: {dropped} rounds were dropped",
        "another program uses the GPU, or it is too hot; measure again",
    ),
    finding(
        "timing_unfinished",
        "{what}: not everything was measured",
        "run the same command with the same state again",
    ),
    finding(
        "suspiciously_fast",
        "{candidate} is {ratio:.1f}x faster on {workload}",
        "look at what it does before you believe it",
    ),
)
