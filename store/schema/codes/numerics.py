"""Findings of numerics: what differs, and where."""

from .code import finding

NUMERICS = (
    finding(
        "no_workload",
        "{file} offers no way to run it (no run/make_inputs hooks, no sidecar, no capture)",
        "add the hooks or pass --workload FILE",
    ),
    finding(
        "values_differ",
        "{output} differs: {count} of {total} elements, worst at {index}: {candidate} against {reference}",
        "see the tile and the line that write this element",
    ),
    finding(
        "shape_differs", "{output} has shape {candidate}, expected {reference}", "the candidate must keep the shape"
    ),
    finding(
        "dtype_differs", "{output} has dtype {candidate}, expected {reference}", "the candidate must keep the dtype"
    ),
    finding(
        "nonfinite_differs",
        "{output} is {candidate} where {reference} is expected, at {index}",
        "NaN and infinities must stand in the same places",
    ),
    finding(
        "input_changed",
        "the candidate changed input {name}, which the original leaves alone",
        "write into outputs only",
    ),
    finding(
        "input_change_differs",
        "input {name} is changed in place, and the changes differ at {index}",
        'both must leave the same memory behind; a lock or counter that follows the grid is named by SCRATCH = ["name"]',
    ),
    finding(
        "input_borrowed",
        "the candidate writes into input {name} and puts its values back; the original leaves it alone",
        "what uses the input meanwhile sees other values: take memory of your own",
    ),
    finding(
        "output_aliases",
        "{output} lies in the memory of {other}; in the original it has its own",
        "who changes one changes the other: return memory of its own",
    ),
    finding(
        "output_reused",
        "{output} lies in memory that was there before the call: the next call overwrites what this one returned",
        "allocate the output in every call, or let the caller hand it in",
    ),
    finding(
        "layout_differs",
        "{output} has {what} {candidate}, the original's has {reference}",
        "a view or an in-place operation of the caller may no longer work: give the output the original's layout",
    ),
    finding(
        "random_state_changed",
        "the candidate draws random numbers or sets their seed; the original leaves PyTorch's random state alone",
        "what the caller draws afterwards is something else",
    ),
    finding(
        "out_of_bounds_write",
        "memory {side} {tensor} was written by {what}",
        "a store runs past its tensor: check the masks",
    ),
    finding(
        "out_of_bounds_read",
        "memory {side} {tensor} was read by {what}, up to {away} bytes past its end",
        "a load runs past its tensor: check the masks",
    ),
    finding(
        "uninitialised_read", "{output} holds poison at {index}: it was never written", "every element must be stored"
    ),
    finding(
        "reference_disagrees",
        "the original itself differs from its reference in {output}: worst at {index}",
        "the original or its reference is wrong; the candidate is judged against the original",
    ),
    finding(
        "error_grew",
        "{output}: RMS error against float64 is {candidate:.3g}, the original's is {original:.3g}",
        "the rewrite loses accuracy",
    ),
    finding(
        "vacuous_tolerance",
        "a deliberately wrong output ({sentinel}) passes the comparison of {output}",
        "the workload cannot tell right from wrong; use richer inputs",
    ),
    finding("undetermined_original", "the original gives another {output} when its programs run in another order", "nothing can be held against a result that is not determined: mend the race first"),
    finding(
        "kernel_unseen",
        "nothing that the kernels write reaches what `run` hands back or changes in the workload {workload}",
        "launch the kernel in the workload's `run`, and return every tensor that it writes",
    ),
    finding(
        "launch_output_differs",
        "{kernel} leaves other values in {name} ({why}), which `run` does not hand back",
        "return it from `run` to see more; a lock or counter that follows the grid is named by SCRATCH in the hooks",
    ),
    finding(
        "sanitizer_error",
        "{tool} on {what}: {error}",
        "an access out of bounds or a race, though the values agree: mask the access, or order the two",
    ),
    finding(
        "sanitizer_not_run",
        "compute-sanitizer's {tool} did not run ({why})",
        "guard zones round every tensor stood in for it; a check in the interpreter adds other orders of the programs",
    ),
    finding(
        "scratch_not_compared",
        "what is left in {names} was not compared: the hooks call it scratch",
        "only what the original changes itself is left out, and nothing that `run` returns",
    ),
    finding(
        "launch_output_unmatched",
        "the original's {kernel} writes {name}, which `run` does not hand back and the candidate has no equal of",
        "return the tensor from the workload's `run`, so that it can be compared",
    ),
    finding(
        "output_partly_not_from_kernel",
        "{count} of {total} values of {output} are what they are without what the candidate's kernels write",
        "what is rewritten and timed are kernels: compute all that the original's kernel computes in kernels",
    ),
    finding(
        "launches_for_show",
        "no result of the workload {workload} depends on what the candidate's kernels write",
        "hand back what the kernels wrote",
    ),
    finding(
        "result_mended",
        "{kernel} leaves other values in {output} ({why}), and something that is no kernel makes them right",
        "mend the kernel: what its host adds is neither rewritten nor timed",
    ),
    finding(
        "output_not_from_kernel",
        "{output} is computed by kernels in the original, and by something else in the candidate",
        "hand back what the kernel wrote",
    ),
    finding("not_deterministic", "{output} changes between identical runs", "atomics or races; compare with care"),
    finding(
        "shape_variation_skipped",
        "{count} shape variations that the original itself rejects were skipped",
        "declared shapes were still checked",
    ),
    finding(
        "interpreter_only",
        "checked in the interpreter: it shows neither races nor the precision of tensor cores",
        "run on a GPU for both",
    ),
    finding(
        "outputs_differ",
        "the outputs are {candidate}, expected {reference}",
        "return the same names, in the same form, as plain tensors",
    ),
    finding(
        "reads_outside",
        "{output} changes with what lies outside its tensors ({count} of {total} elements, first at {index})",
        "a load runs past its tensor, or reads what was never written: check the masks",
    ),
    finding(
        "case_not_judged",
        "{count} cases of unusual values were not counted: there the original itself differs from its reference or fails",
        "the declared workloads were still checked",
    ),
)
