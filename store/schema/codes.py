"""The one table of refusal and finding codes. Codes are stable: scripts and agents match on them.

`template` is filled with keyword fields by `Code.message`; `hint` says what to do about it.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Code:
    """One stable code: what it means in words, and what a user can do."""

    name: str
    kind: Literal["refusal", "finding", "error"]
    template: str
    hint: str

    def message(self, **fields: object) -> str:
        """The template with `fields` filled in. Raises KeyError where a field is missing."""
        return self.template.format(**fields)


def _refusal(name: str, template: str, hint: str) -> Code:
    return Code(name, "refusal", template, hint)


def _finding(name: str, template: str, hint: str) -> Code:
    return Code(name, "finding", template, hint)


def _error(name: str, template: str, hint: str) -> Code:
    return Code(name, "error", template, hint)


_TABLE = (
    # -- reading the file ------------------------------------------------------------------------------------------
    _refusal("no_kernel", "{file} holds no @triton.jit kernel", "name a file that holds a Triton kernel"),
    _refusal(
        "unknown_kernel", "{file} holds no kernel named {kernel}; it has {have}", "use FILE::KERNEL with one of those"
    ),
    _refusal("unparsable", "{file} line {line}: {error}", "fix the syntax error; skel reads Python {python} source"),
    _refusal(
        "advice_only",
        "{skeleton} is advice: it is found and explained, it has nothing to apply",
        "read `skel show {skeleton}`",
    ),
    _refusal(
        "no_launch_site",
        "no launch of {kernel} was found in the file",
        "put the launcher in the same file, or give --workload with a capture",
    ),
    _refusal(
        "several_launch_sites",
        "{kernel} is launched from {count} places (lines {lines}) with different tiles or options; changing one would break another",
        "bring the launches to one tile choice, or fuse a copy of the kernel",
    ),
    _refusal(
        "unreadable_launch",
        "the launch of {kernel} cannot be read: {why}",
        "pass the tile and the grid as plain expressions",
    ),
    _refusal(
        "slice_unresolved",
        "{name}, which the slice of {module} needs, was not found ({file} line {line})",
        "name another launcher in LAUNCHERS, or give the sidecar a TARGET that holds all it needs",
    ),
    _refusal(
        "slice_too_large",
        "the slice of {module} would hold over {count} modules",
        "name fewer LAUNCHERS: a slice is for a kernel and its launcher, not for a package",
    ),
    _refusal(
        "slice_needs",
        "the slice of {module} imports {name}, which is not installed here ({file} line {line})",
        "install it, or run where it is",
    ),
    # -- the axis and its tile -------------------------------------------------------------------------------------
    _refusal(
        "no_tiled_axis",
        "{kernel} has no grid axis that walks tiles of a dimension",
        "V-tile fusion needs `program_id * TILE + arange(TILE)`",
    ),
    _refusal(
        "axis_by_flag",
        "{tile} is walked by {held} where {flag} holds and by {otherwise} elsewhere: no one axis is fused for every launch",
        "specialise the kernel on {flag}, or launch it with one value of it",
    ),
    _refusal(
        "no_redundant_work",
        "nothing that {axis} leaves unchanged is worth fusing: no reduction, transcendental or dot repeats per tile",
        "fusing would only lower parallelism",
    ),
    _refusal("single_tile", "the launcher always gives one tile along {axis}", "there is nothing to fuse"),
    _refusal(
        "axis_used_otherwise",
        "{axis} is used other than as a tile offset, a slot index or a guard",
        "the tile index itself is part of the result; rewrite it in terms of the offsets first",
    ),
    _refusal(
        "tile_used_otherwise",
        "{tile} is used other than as the size of a tile",
        "the tile's size itself is part of the result",
    ),
    _refusal(
        "reduction_over_tile_axis",
        "{op} over the lanes of {axis} makes the result depend on the tile: a wider tile is another result",
        "loop_tiles keeps the tile; hoist_producer moves the shared work out",
    ),
    _refusal(
        "nonlinear_partial",
        "a partial over the lanes of {axis} is used non-linearly before the partials are summed",
        "right only at one tile; compare with a reference",
    ),
    _refusal(
        "partial_not_summed",
        "partials over {axis} are stored per tile in {name}, but the host does not sum them over the tiles",
        "sum the slots on the host, or keep the tile",
    ),
    _refusal(
        "unguarded_invariant_store",
        "every tile along {axis} stores to the same place ({name}) a value that may differ between tiles",
        "guard the store with `if {axis} == 0`, or show that the value is the same",
    ),
    _refusal(
        "atomic_invariant",
        "an atomic of a value that {axis} leaves unchanged runs once per tile; fused it would run fewer times",
        "guard it with `if {axis} == 0` if it was meant to run once",
    ),
    _refusal(
        "atomic_not_separated",
        "an atomic that the tiles of {axis} do not separate",
        "only adds of values linear in the lanes can be merged",
    ),
    _refusal(
        "inplace_not_separated",
        "memory at {name} is read and written at a place that all tiles of {axis} share",
        "each tile would see the other's result; separate the tiles' places first",
    ),
    _refusal(
        "tile_dependent_exit",
        "the kernel leaves early under a condition that differs between tiles of {axis}",
        "turn the exit into a mask",
    ),
    _refusal(
        "exit_between_tiles",
        "the kernel may leave at line {line}, after or in the middle of work on a tile of {axis}: a loop over tiles would leave the other tiles out",
        "use the widen form, which has one tile; or move the exit above all that depends on {axis}",
    ),
    _refusal(
        "grid_barrier",
        "{axis} takes part in a grid barrier or reads num_programs",
        "tiles that wait for each other cannot be merged",
    ),
    _refusal(
        "non_pow2_unmasked",
        "an access along {axis} has no bounds check, and {dim} need not be a multiple of the wider tile",
        "add a mask `offset < {dim}`, or use loop_tiles, which keeps the tile",
    ),
    _refusal(
        "lane_order_unknown", "the lanes of {axis} cannot be followed through {op}", "skel refuses what it cannot prove"
    ),
    _refusal("unknown_construct", "{construct} is not understood here", "skel refuses what it cannot prove"),
    _refusal(
        "inline_assembly",
        "the kernel holds inline assembly, whose effects cannot be read",
        "skel refuses what it cannot prove",
    ),
    _refusal(
        "opaque_call",
        "{callee} is called with values that matter here and its source was not found",
        "put the helper in the same file or package",
    ),
    _refusal(
        "loop_carried_across_tiles",
        "a tile loop would stand outside the time loop at line {line}: the shared work inside it would still repeat",
        "use the widen form, which keeps all tiles' states inside the loop",
    ),
    _refusal(
        "carried_across_tiles",
        "{name} would carry a value from one tile to the next",
        "give each tile a name of its own",
    ),
    _refusal(
        "nothing_to_hoist",
        "all work in {kernel} depends on {axis}; a loop over tiles would share nothing",
        "there is nothing to gain from a loop",
    ),
    # -- the host side ---------------------------------------------------------------------------------------------
    _refusal(
        "grid_within_limits",
        "no axis of {kernel}'s grid but the first is a product of sizes known at run time",
        "an axis that is one size stays below 65,535 in practice; flatten it by hand where it does not",
    ),
    _refusal(
        "grid_has_axes",
        "the grid of {kernel} has more than one axis, or its programs do not count one kind of work",
        "flatten the grid onto its first axis: reorder_grid does that where an axis may pass 65,535",
    ),
    _refusal(
        "axis_flattened",
        "{axis} is taken out of a flattened program id: the grid has no dimension of its own for it",
        "give the axis a grid dimension of its own first",
    ),
    _refusal(
        "producer_not_saved",
        "what repeats in every tile of {axis} ends in no value that a scratch can hold: fp32, of a known shape, set on every path",
        "cast the value to fp32 where it is made, and set it outside branches",
    ),
    _refusal(
        "grid_not_tied_to_tile",
        "the grid's size along {axis} does not follow from the tile {tile}",
        "write the grid as cdiv(dimension, tile)",
    ),
    _refusal(
        "tile_belongs_to_autotuner",
        "{tile} is chosen by autotune; its list may hold workarounds, so it is not widened silently",
        "add the wider configurations by hand, or pin the tile at the launch",
    ),
    _refusal("tile_from_heuristic", "{tile} is computed by a heuristic", "set the tile at the launch"),
    _refusal(
        "heuristic_reads_tile",
        "the heuristic {name} reads {tile} in a way that cannot be checked",
        "compute it from the tile with plain arithmetic",
    ),
    _refusal(
        "tile_through_kwargs",
        "{tile} reaches the launch through **{name}, whose value cannot be followed",
        "pass the tile as a keyword",
    ),
    _refusal(
        "tile_shared",
        "{tile} is also used for {what} (line {line}); changing it there changes something else",
        "give the kernel a tile name of its own",
    ),
    _refusal(
        "tile_unknown",
        "the tile {tile} at the launch cannot be traced to an assignment, a literal or a table",
        "assign the tile in the launcher",
    ),
    _refusal(
        "dtype_depends_on_tiles",
        "the launcher picks a dtype by the number of tiles (line {line}); merging tiles changes the rounding",
        "allocate in one dtype",
    ),
    _refusal(
        "tile_must_divide",
        "the launcher divides {dimension} by {tile} without rounding up (line {line}), so the tile must divide it; a tile of the whole dimension need not",
        "round the grid up with cdiv and mask, or keep the tile and loop",
    ),
    _refusal(
        "option_belongs_to_autotuner",
        "{option} of {kernel} is chosen by autotune; passing it at the launch as well raises",
        "add configurations by hand, or drop the autotuner",
    ),
    _refusal(
        "option_through_kwargs",
        "{option} reaches the launch through **{name}, whose value cannot be followed",
        "pass the option as a keyword",
    ),
    _refusal("no_autotuner", "{kernel} has no autotuner", "pass options at the launch, or add configurations by hand"),
    _refusal(
        "autotune_not_listed",
        "the configurations or the key of {kernel} are not plain lists in its decorator",
        "lists that are shared, filtered or chosen by device may work around something: widen them by hand",
    ),
    _refusal(
        "autotune_wide_enough",
        "the autotuner of {kernel} tries the warps around its own already, and its key holds every size",
        "nothing to do",
    ),
    _refusal("no_such_option", "{setting} is no decision of {skeleton}; it has {have}", "use --set with one of those"),
    _refusal("bad_setting", "{setting}={value}: {why}", "give a value that the kernel can take"),
    # -- local rewrites --------------------------------------------------------------------------------------------
    _refusal("pattern_not_found", "{kernel} holds no place where {skeleton} applies", "nothing to do"),
    _refusal(
        "divisor_unproved",
        "the divisor at line {line} is not proved to be finite, non-zero and not tiny",
        "add an epsilon or a lower bound in the kernel",
    ),
    _refusal(
        "integer_division",
        "the division at line {line} is an integer division",
        "only floating-point divisions have a reciprocal",
    ),
    _refusal("already_applied", "{kernel} already uses {skeleton}", "nothing to do"),
    _refusal(
        "mixed_exponent_base",
        "a value in base {base} also reaches line {line}, which expects the natural base",
        "all consumers of an exponent must change together",
    ),
    _refusal(
        "exponent_not_scalable",
        "the exponent at line {line} cannot take the factor log2(e) at one place",
        "scale it where the score is computed",
    ),
    _refusal(
        "base_escapes",
        "the exponent or its logarithm is stored or passed on at line {line}, where others expect the natural base",
        "convert at the boundary",
    ),
    _refusal(
        "dot_precision_pinned",
        "the dot at line {line} already names its precision",
        "skel does not override a precision that the author chose",
    ),
    _refusal(
        "dot_operands_not_fp32",
        "the dot at line {line} has operands that are not both fp32",
        "tf32x3 acts on fp32 operands only",
    ),
    _refusal(
        "dot_not_carried",
        "no fp32 dot in {kernel} feeds a loop-carried value",
        "a single product loses too little to pay for three",
    ),
    _refusal("no_tf32_on_target", "{target} has no tf32: use ieee", "pass --set precision=ieee"),
    _refusal("index_already_wide", "every offset of {kernel} is already int64 or bounded", "nothing to do"),
    _refusal(
        "index_not_root",
        "the index at line {line} has no single root to widen",
        "cast it where it is loaded or computed",
    ),
    _refusal(
        "store_between",
        "the load at line {line} repeats that of line {first}, but line {store} may change the memory in between",
        "keep the first value by hand, if the memory is another",
    ),
    _refusal(
        "may_not_have_run",
        "line {line} repeats line {first}, which may not have run before it",
        "move the first out of its branch or loop",
    ),
    _refusal(
        "loads_follow_carry",
        "the address of the load at line {line} depends on what its loop carries, so it cannot be issued early",
        "nothing can be loaded ahead there",
    ),
    _refusal(
        "loop_writes_what_it_loads",
        "line {line} may write what its loop loads, or waits for others: a load issued early would miss it",
        "read what the loop writes from the values, not from memory",
    ),
    _refusal(
        "state_not_zero",
        "{name} at line {line} is not proved to be zeros of the shape and type of what is added to it",
        "start it with tl.zeros of the shape and type of the load",
    ),
    _refusal(
        "loop_not_first",
        "the load at line {line} cannot move into the first round of the loop at line {loop}",
        "use form=direct, which leaves it where it is",
    ),
    _refusal(
        "constexpr_needed",
        "{name} must stay a constexpr: line {line} needs its value at compile time, or computes with it there",
        "compute on the host what needs it, and pass the result",
    ),
    _refusal(
        "block_pointer_escapes",
        "the block pointer at line {line} is {how}, so its offsets cannot be followed",
        "keep a block pointer in one name, advanced in one place",
    ),
    _refusal(
        "boundary_not_readable",
        "the access at line {line}: {why}",
        "write the bounds as constants, and pad with zero",
    ),
    _refusal(
        "loop_bound_unknown",
        "the launcher cannot tell how often the loop at line {line} runs: {why}",
        "make the bound of parameters alone, or pass the largest count",
    ),
    _refusal(
        "loop_not_independent",
        "the rounds of the loop cannot be separate programs (line {line}): {why}",
        "only rounds that read nothing of each other, and write places of their own, can run apart",
    ),
    _refusal(
        "alignment_not_proved",
        "nothing proves that the offsets at line {line} stay in one run: {why}",
        "write them as (tile * BLOCK + tl.arange(0, BLOCK)) % SIZE, with a tile counted from program ids",
    ),
    _refusal(
        "runtime_needed",
        "{name} cannot become a constexpr: line {line} {why}",
        "cast it with tl.cast, and compute with it outside loops and branches",
    ),
    _refusal(
        "specialised_already",
        "Triton compiles a kernel of its own where {name} is 1, since nothing tells it not to",
        "nothing to do",
    ),
    _refusal(
        "loop_not_additive",
        "the loop at line {line} cannot be taken in shares that are added afterwards: {why}",
        "only sums into fp32 accumulators that start at zero can be split",
    ),
    _refusal(
        "mask_not_proved",
        "nothing known at compile time makes the mask of the load at line {line} true in every lane",
        "write the mask as lanes + tile < dimension, in a loop over the tiles of that dimension",
    ),
    # -- the guard that keeps the original -------------------------------------------------------------------------
    _refusal(
        "guard_not_possible",
        "no guard can choose between the original and the rewritten kernel: {why}",
        "apply one candidate with --set, where it does not lose",
    ),
    # -- while editing ---------------------------------------------------------------------------------------------
    _refusal("name_taken", "the new name {name} is already used in {scope}", "rename it"),
    _refusal(
        "edits_overlap",
        "two edits of {primitive} touch the same source (line {line})",
        "apply the skeletons one after the other",
    ),
    _refusal(
        "inconsistent_result",
        "the rewritten kernel no longer holds what was proved: {what}",
        "please report this kernel; nothing was written",
    ),
    # -- findings of analysis --------------------------------------------------------------------------------------
    _finding(
        "same_value_store",
        "tiles along {axis} store the same value to {name} without a guard",
        "harmless while the values agree; guard it to be safe",
    ),
    _finding(
        "shared_store",
        "tiles along {axis} store to the same place in {name} values that follow from the tile; the last one stays",
        "guard the store with the tile that is meant, or give each tile a place of its own",
    ),
    _finding(
        "tile_dependence",
        "the result of {name} depends on the tile along {axis}",
        "may be meant (a grouped statistic); a reference tells",
    ),
    _finding(
        "offset_may_overflow",
        "the offset at line {line} is a 32-bit product of a runtime index and a stride; past 2^31 elements it wraps",
        "int64_offsets widens the index",
    ),
    _finding(
        "unmasked_access", "no mask covers {axis} at line {line}", "right only while the tile divides the dimension"
    ),
    _finding("inplace_shared", "{name} is read and written in place where all tiles of {axis} share it: a tile may read what another has written", "let one tile own the update, or write to another buffer"),
    _finding("candidate_refused", "{candidate}: {why}", "another form or tile may fit"),
    _finding("tile_kept_by_launcher", "the launcher caps the tile with {expression}", "the cap moves with the tile"),
    # -- findings of search -----------------------------------------------------------------------------------------
    _finding("language_not_understood", "the query is in {language}, which search does not understand", "ask in English or Chinese"),
    # -- findings of the compile check -----------------------------------------------------------------------------
    _finding(
        "compile_failed", "{candidate} does not compile for {target}: {error}", "another tile or warp count may fit"
    ),
    _finding(
        "compile_timeout", "{candidate} took over {seconds} s to compile for {target}", "smaller tiles compile faster"
    ),
    _finding("spills", "{candidate} spills {bytes} bytes a thread on {target}", "more warps or a smaller tile"),
    _finding(
        "over_shared_memory",
        "{candidate} needs {bytes} bytes of shared memory, {target} has {limit}",
        "a smaller tile or fewer stages",
    ),
    _finding(
        "registers_changed",
        "{candidate} uses {after} registers a thread, the original {before}",
        "registers bound how many programs are resident",
    ),
    _finding(
        "reduction_crosses_warps",
        "the reduction of {candidate} crosses {warps} warps, so it goes through shared memory",
        "fewer warps keep it inside one",
    ),
    _finding("no_compiler", "the compile check needs {what}, which is missing here", "install it; see `skel doctor`"),
    # -- findings of numerics --------------------------------------------------------------------------------------
    _finding(
        "no_workload",
        "{file} offers no way to run it (no run/make_inputs hooks, no sidecar, no capture)",
        "add the hooks or pass --workload FILE",
    ),
    _finding(
        "values_differ",
        "{output} differs: {count} of {total} elements, worst at {index}: {candidate} against {reference}",
        "see the tile and the line that write this element",
    ),
    _finding(
        "shape_differs", "{output} has shape {candidate}, expected {reference}", "the candidate must keep the shape"
    ),
    _finding(
        "dtype_differs", "{output} has dtype {candidate}, expected {reference}", "the candidate must keep the dtype"
    ),
    _finding(
        "nonfinite_differs",
        "{output} is {candidate} where {reference} is expected, at {index}",
        "NaN and infinities must stand in the same places",
    ),
    _finding(
        "input_changed",
        "the candidate changed input {name}, which the original leaves alone",
        "write into outputs only",
    ),
    _finding(
        "input_change_differs",
        "input {name} is changed in place, and the changes differ at {index}",
        "both must leave the same memory behind",
    ),
    _finding(
        "out_of_bounds_write",
        "memory {side} {tensor} was written by {what}",
        "a store runs past its tensor: check the masks",
    ),
    _finding(
        "out_of_bounds_read",
        "memory {side} {tensor} was read by {what}, up to {away} bytes past its end",
        "a load runs past its tensor: check the masks",
    ),
    _finding(
        "uninitialised_read", "{output} holds poison at {index}: it was never written", "every element must be stored"
    ),
    _finding(
        "reference_disagrees",
        "the original itself differs from its reference in {output}: worst at {index}",
        "the original or its reference is wrong; the candidate is judged against the original",
    ),
    _finding(
        "error_grew",
        "{output}: RMS error against float64 is {candidate:.3g}, the original's is {original:.3g}",
        "the rewrite loses accuracy",
    ),
    _finding(
        "vacuous_tolerance",
        "a deliberately wrong output ({sentinel}) passes the comparison of {output}",
        "the workload cannot tell right from wrong; use richer inputs",
    ),
    _finding("undetermined_original", "the original gives another {output} when its programs run in another order", "nothing can be held against a result that is not determined: mend the race first"),
    _finding(
        "kernel_unseen",
        "nothing that the kernels write reaches what `run` hands back or changes in the workload {workload}",
        "launch the kernel in the workload's `run`, and return every tensor that it writes",
    ),
    _finding(
        "launch_output_differs",
        "{kernel} leaves other values in {name} ({why}), which `run` does not hand back",
        "every tensor that a kernel writes must be what the original's is; return it from `run` to see more",
    ),
    _finding(
        "launch_output_unmatched",
        "the original's {kernel} writes {name}, which `run` does not hand back and the candidate has no equal of",
        "return the tensor from the workload's `run`, so that it can be compared",
    ),
    _finding(
        "output_not_from_kernel",
        "{output} is computed by kernels in the original, and by something else in the candidate",
        "hand back what the kernel wrote",
    ),
    _finding("not_deterministic", "{output} changes between identical runs", "atomics or races; compare with care"),
    _finding(
        "shape_variation_skipped",
        "{count} shape variations that the original itself rejects were skipped",
        "declared shapes were still checked",
    ),
    _finding(
        "interpreter_only",
        "checked in the interpreter: it shows neither races nor the precision of tensor cores",
        "run on a GPU for both",
    ),
    _finding(
        "outputs_differ",
        "the outputs are {candidate}, expected {reference}",
        "return the same names, in the same form, as plain tensors",
    ),
    _finding(
        "reads_outside",
        "{output} changes with what lies outside its tensors ({count} of {total} elements, first at {index})",
        "a load runs past its tensor, or reads what was never written: check the masks",
    ),
    _finding(
        "case_not_judged",
        "{count} cases of unusual values were not counted: there the original itself differs from its reference or fails",
        "the declared workloads were still checked",
    ),
    # -- findings of isolation -------------------------------------------------------------------------------------
    _finding(
        "worker_crashed",
        "the worker died with {signal} while running {what}",
        "an access out of bounds is the usual cause",
    ),
    _finding(
        "worker_timeout", "{what} ran over {seconds} s and was stopped", "a loop that never ends, or a limit too low"
    ),
    _finding(
        "worker_out_of_memory", "{what} went over {megabytes} MB and was stopped", "smaller inputs, or a higher limit"
    ),
    _finding("worker_raised", "{what} raised {error}", "see the line"),
    _finding(
        "device_error",
        "{what} broke the GPU's context: {error}",
        "an access out of bounds, most likely: run it on small sizes in the interpreter",
    ),
    _finding(
        "device_setting_changed",
        "{what} changed {name} of the GPU from {before} to {after}",
        "a target must leave the device's limits alone: they outlive its call and change what is timed",
    ),
    _finding("wrong_code_ran", "{what} ran {ran}, not {meant}", "nothing that ran counts"),
    _finding("launch_changed", "{what}", "the rewritten launch must launch the rewritten kernel"),
    _finding(
        "wrote_outside", "{what} tried to write {tried}", "kernels and hooks may write only in their scratch folder"
    ),
    _finding("used_network", "{what} tried to use the network ({tried})", "a target must run without a network"),
    _finding("started_process", "{what} tried to start a process ({tried})", "a target must run in its own process"),
    # -- findings of timing ----------------------------------------------------------------------------------------
    _finding("no_gpu", "there is no GPU here: nothing was timed", "run `skel bench` where there is one"),
    _finding(
        "memory_bound",
        "{kernel} runs at {fraction:.0%} of the memory floor on {workload}",
        "nothing that saves arithmetic can help further",
    ),
    _finding(
        "below_floor",
        "{candidate} is faster than the memory allows ({measured_us:.2f} us, floor {floor_us:.2f} us)",
        "something was not run or was cached",
    ),
    _finding(
        "control_failed",
        "original against original gave {ratio:.3f} on {workload}",
        "the machine was not quiet; measure again",
    ),
    _finding(
        "own_numbers",
        "decided with numbers that are not the protocol's: {numbers}",
        "measure without --number for a verdict that may be compared",
    ),
    _finding("slower_here", "{candidate} is slower on {workload}: {ratio:.3f}x", "the guard keeps the original there"),
    _finding(
        "own_configuration_better",
        "{own} leaves {candidate} behind on {workload}: the rewritten version reaches {ratio:.3f} of its speed",
        "the launch alone gains more there: set these options where the original is launched",
    ),
    _finding(
        "guard_emitted",
        "the original is kept where {condition}",
        "measured ranges only; other shapes keep the original",
    ),
    _finding(
        "too_few_programs",
        "{candidate} leaves {programs} programs for {multiprocessors} multiprocessors",
        "a partial fusion keeps more programs",
    ),
    _finding(
        "untimed_work",
        "{candidate} does work outside its launches that the original does not ({operations}); it was not timed",
        "do that work in a kernel, or before the data comes to it",
    ),
    _finding(
        "clock_low",
        "the clock was low too often on {workload}: {dropped} rounds were dropped",
        "another program uses the GPU, or it is too hot; measure again",
    ),
    _finding(
        "timing_unfinished",
        "{what}: not everything was measured",
        "run the same command with the same state again",
    ),
    _finding(
        "suspiciously_fast",
        "{candidate} is {ratio:.1f}x faster on {workload}",
        "look at what it does before you believe it",
    ),
    # -- findings that follow up others ------------------------------------------------------------------------------
    _finding(
        "wrong_element",
        "the first wrong element of {output}, {index}, is written by program {program} of {kernel}, tile {tile}, at line {line}",
        "look at what this tile reads and carries before that line",
    ),
    _finding(
        "wrong_step",
        "{step} is the first step after which the result is wrong; it changed lines {lines}",
        "leave that step out with its decision at `kept`, or look at the statement it changed",
    ),
    _finding(
        "error_by_workload",
        "{output}: relative RMS error {small:.3g} on {smallest}, {large:.3g} on {largest} ({growth:.3g} times)",
        "an error that grows with the size points at an accumulation; one that does not at a wrong element",
    ),
    _finding(
        "figures_changed",
        "{candidate} against the original on {target}: {changes}",
        "the figure that grew most is the first suspect",
    ),
    # -- errors of calls -----------------------------------------------------------------------------------------------
    _error("unknown_tool", "there is no tool {tool}", "there are {have}"),
    _error("bad_input", "{field}: {why}", "see the tool's input schema; unknown fields are errors"),
    _error("too_large", "{what} is larger than {limit}", "send less, or name a smaller file"),
    _error("outside_roots", "{path} lies under none of the roots given at start", "use a path under {roots}; links are followed before they are judged"),
    _error("no_such_file", "there is no file {path}", "paths are absolute, or relative to the first root"),
    _error("unreadable_file", "{path} cannot be used: {why}", "name a regular file of UTF-8 Python source"),
    _error("file_exists", "{path} is there already", "name another file: only files named STEM_SKELETON.py are replaced"),
    _error("unknown_skeleton", "{message}", "search_skeletons finds names"),
    _error("unknown_job", "there is no job {job} of these roots", "get_job without a job gives the newest one"),
    _error("job_not_done", "{job} is {state}, so it has no {what}", "get_job with wait_seconds waits for it"),
    _error("job_interrupted", "the process that worked on it is gone", "ask for the same again"),
    _error("job_timeout", "it took over {seconds} s and was stopped", "a smaller workload, or without full"),
    _error("job_crashed", "{error}", "a fault of skel: the audit log has the call"),
    _error("queue_full", "{waiting} jobs wait already", "wait for one with get_job, or cancel_job"),
    _error("too_many_calls", "{calls} calls are open already", "wait for an answer before the next call"),
    _error("no_evidence", "{job} measured nothing that could be evidence: {why}", "evidence comes from a job of apply_skeleton, check_equivalence or benchmark that ran a candidate"),
    _error("bad_record", "{message}", "correct the record; `skel schema` has its form"),
    _error("not_here", "{what} is not available here: {why}", "see `skel doctor`"),
    _error("store_unavailable", "the database cannot be used: {message}", "look at its place and its permissions"),
    _error("internal_error", "skel failed in {tool} ({kind})", "a fault of skel, not of the call; the audit log has it"),
    # -- findings of captures --------------------------------------------------------------------------------------
    _finding(
        "command_failed", "the command ended with {status}; what it had launched by then was recorded", "see its output"
    ),
    _finding(
        "no_launch_recorded",
        "the command made no Triton launch that could be seen",
        "launches by compiled graphs and from other languages are not seen; run the script itself",
    ),
    _finding(
        "values_assumed",
        "the launches were only compiled, so {count} tensors hold made-up values",
        "capture with TRITON_INTERPRET=1, or where there is a GPU",
    ),
    _finding(
        "values_regenerated",
        "{count} tensors are made again from statistics of their values",
        "`--values stored` keeps values up to a size",
    ),
    _finding(
        "launch_captured_alone",
        "{kernel} was captured as a launch, not as a call of its launcher: {why}",
        "launch it from a function at the top level of its file that takes tensors and plain values",
    ),
    _finding(
        "capture_of_other_source",
        "the capture was made of another version of {file}",
        "capture again, or judge the version that was captured",
    ),
    _finding(
        "launch_not_replayed",
        "{candidate} changes host code, but {kernel} was captured as a launch: the recorded launch is not its own",
        "launch from a function at the top level of the kernel's file, and capture again",
    ),
    # -- findings of further runs ----------------------------------------------------------------------------------
    _finding(
        "autotune_config_wrong",
        "{kernel} with {config} alone, on fresh buffers: {why} in {output}",
        "drop the configuration, or mend what it breaks",
    ),
    _finding(
        "order_dependent",
        "{output} changes when programs run in another order: {count} of {total} elements, first at {index}",
        "a program reads what another one writes",
    ),
    _finding(
        "not_batch_invariant",
        "{output} of one sequence alone is not what it is in the batch: {count} of {total} elements, first at {index}",
        "the kernel or the guard chooses by batch size; say so, or use one variant for all",
    ),
    _finding(
        "partition_differs",
        "{output} over the whole is not what its parts give with the state handed on: {count} of {total} elements",
        "the state that is stored is not the state that is used",
    ),
    _finding(
        "error_grows",
        "{output}: the error of parts against the whole grows with the length, from {first:.3g} to {last:.3g}",
        "the state loses precision at every step: keep it in a wider dtype",
    ),
    _finding(
        "stale_output",
        "{output} is what other inputs gave ({earlier})",
        "a result was kept and handed back, or an address was taken for the values",
    ),
    _finding(
        "only_first_call_right",
        "{output} is right in the first call and wrong in call {call}",
        "something is kept between calls",
    ),
    _finding(
        "only_known_seeds_right",
        "{output} is right for the seeds known beforehand and wrong for the one that was drawn",
        "results depend on inputs that were foreseen",
    ),
    _finding("constant_output", "{output} is {value} everywhere", "nothing was computed"),
    _finding(
        "lazy_output",
        "{output} is a {kind}, not a plain tensor: its values may be computed when they are looked at",
        "return plain tensors",
    ),
    _finding(
        "library_changed",
        "{what} replaced {name}",
        "a target must leave the libraries it uses, and what judges it, alone",
    ),
    _finding(
        "work_left_running", "{what} left {count} threads or streams at work", "all work must be done when `run` returns"
    ),
    _finding("read_foreign", "{what} tried to read {tried}", "a target may read its own inputs only"),
)

CODES: dict[str, Code] = {code.name: code for code in _TABLE}
"""Every code by name."""
