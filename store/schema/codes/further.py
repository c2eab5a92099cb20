"""Findings of further runs."""

from .code import finding

FURTHER = (
    finding(
        "autotune_config_wrong",
        "{kernel} with {config} alone, on fresh buffers: {why} in {output}",
        "drop the configuration, or mend what it breaks",
    ),
    finding(
        "order_dependent",
        "{output} changes when programs run in another order: {count} of {total} elements, first at {index}",
        "a program reads what another one writes",
    ),
    finding(
        "not_batch_invariant",
        "{output} of one sequence alone is not what it is in the batch: {count} of {total} elements, first at {index}",
        "the kernel or the guard chooses by batch size; say so, or use one variant for all",
    ),
    finding(
        "partition_differs",
        "{output} over the whole is not what its parts give with the state handed on: {count} of {total} elements",
        "the state that is stored is not the state that is used",
    ),
    finding(
        "error_grows",
        "{output}: the error of parts against the whole grows with the length, from {first:.3g} to {last:.3g}",
        "the state loses precision at every step: keep it in a wider dtype",
    ),
    finding(
        "stale_output",
        "{output} is what other inputs gave ({earlier})",
        "a result was kept and handed back, or an address was taken for the values",
    ),
    finding(
        "only_first_call_right",
        "{output} is right in the first call and wrong in call {call}",
        "something is kept between calls",
    ),
    finding(
        "only_known_seeds_right",
        "{output} is right for the seeds known beforehand and wrong for the one that was drawn",
        "results depend on inputs that were foreseen",
    ),
    finding("constant_output", "{output} is {value} everywhere", "nothing was computed"),
    finding(
        "lazy_output",
        "{output} is a {kind}, not a plain tensor: its values may be computed when they are looked at",
        "return plain tensors",
    ),
    finding(
        "library_changed",
        "{what} replaced {name}",
        "a target must leave the libraries it uses, and what judges it, alone",
    ),
    finding(
        "work_left_running", "{what} left {count} threads or streams at work", "all work must be done when `run` returns"
    ),
    finding("read_foreign", "{what} tried to read {tried}", "a target may read its own inputs only"),
)
