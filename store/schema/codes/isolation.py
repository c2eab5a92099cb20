"""Findings of isolation: workers that were stopped, and what they tried."""

from .code import finding

ISOLATION = (
    finding(
        "worker_crashed",
        "the worker died with {signal} while running {what}",
        "an access out of bounds is the usual cause",
    ),
    finding(
        "worker_timeout", "{what} ran over {seconds} s and was stopped", "a loop that never ends, or a limit too low"
    ),
    finding(
        "worker_out_of_memory", "{what} went over {megabytes} MB and was stopped", "smaller inputs, or a higher limit"
    ),
    finding("worker_raised", "{what} raised {error}", "see the line"),
    finding(
        "device_error",
        "{what} broke the GPU's context: {error}",
        "an access out of bounds, most likely: run it on small sizes in the interpreter",
    ),
    finding(
        "device_setting_changed",
        "{what} changed {name} of the GPU from {before} to {after}",
        "a target must leave the device's limits alone: they outlive its call and change what is timed",
    ),
    finding(
        "results_replaced",
        "the file in which a run's results were kept is not the one that was written after the run",
        "a target must leave the folder it runs in alone",
    ),
    finding(
        "setting_changed",
        "{what} left {name} at {after}, which was {before}",
        "what holds for the whole process belongs to the caller: put it back before `run` returns, and at import set none",
    ),
    finding("wrong_code_ran", "{what} ran {ran}, not {meant}", "nothing that ran counts"),
    finding(
        "stale_binary",
        "{what} ran code that was not compiled from its source in that process ({tried})",
        "nothing that ran counts: a target must leave Triton's cache alone",
    ),
    finding(
        "other_binary_ran",
        "{what} ran {kernel} as binary {ran}, where {step} compiled {meant} of the same source, options and specialisation",
        "nothing that ran counts: find out what replaced the binary",
    ),
    finding(
        "unchecked_binary",
        "{what} ran {kernel} as binary {ran}, which {step} never ran: {differs}",
        "fix the launch options and the arguments that the launcher derives, so that what is timed is what was checked",
    ),
    finding("launch_changed", "{what}", "the rewritten launch must launch the rewritten kernel"),
    finding(
        "wrote_outside", "{what} tried to write {tried}", "kernels and hooks may write only in their scratch folder"
    ),
    finding("used_network", "{what} tried to use the network ({tried})", "a target must run without a network"),
    finding("started_process", "{what} tried to start a process ({tried})", "a target must run in its own process"),
)
