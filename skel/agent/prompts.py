"""The prompts: how the tools are meant to be used, for an agent that knows nothing of skel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with one place to fill in."""

    name: str
    description: str
    argument: str
    argument_description: str
    text: str
    """`{ARGUMENT}` stands for the argument; it is put in as it is, and nothing in it is filled in further."""

    def filled(self, value: str) -> str:
        """The text with the argument put in."""
        return self.text.replace("{" + self.argument + "}", value)


OPTIMIZE = Prompt(
    "optimize_kernel",
    "Take a Triton kernel to a rewritten, validated one: scan, pick, apply, read the findings, try the next.",
    "file",
    "Path of the kernel's file, under a root.",
    """Make the Triton kernel in {file} faster, with the tools of skel. They rewrite by known optimizations and believe
nothing that was not compiled, run and compared.

1. scan_kernel on {file}. While an answer's `state` is `queued` or `running`, call get_job with its `job` and
   wait_seconds 30 until it is not.
2. Make the first call of `next` whose tool is apply_skeleton. Where there is none, call explain on a refused
   opportunity, change the lines it names, and scan again.
3. Read the verdict.
   - `faster`, `improved`: done; the file is `result.out`.
   - `equivalent`, `neutral`: right, but not known to be faster. Where it was not timed, call benchmark; its error
     `not_here` means that this machine cannot time, and the result stands as validated.
   - `not_applicable`: the refusals say why, at which lines, and what to do. Take the next call of the scan.
   - `wrong`, `failed`, `over_limits`, `slower`: the findings say where (element, program, step, figure). Take the next
     call of `next`: another candidate, or another skeleton.
4. Call add_evidence with the job, good or bad: the next one who searches will find it.
5. scan_kernel on `result.out`: another skeleton may apply to the result. Stop when no apply_skeleton is left in `next`.

Every answer has `next`, the calls to go on with, the most promising first. Errors, refusals and findings have a stable
`code` and a `hint` (resource skel://codes has them all); a hint that names a command line means the tool of that name.
Whole reports, patches and files: get_job with `part`.""",
)
SYMPTOM = Prompt(
    "find_by_symptom",
    "From something seen in a profile or in results to a skeleton that answers it.",
    "symptom",
    "What you see, in your own words.",
    """This is seen: {symptom}

1. search_skeletons with it. No hits: say it in other words once; then nothing known answers it.
2. get_skeleton for the best hit. Where `is_advice` is true there is nothing to apply: do by hand what it describes and
   compare with check_equivalence.
3. explain with the kernel's file: it says whether it applies, in which ways, or why not.
4. apply_skeleton, and go on as the prompt optimize_kernel says from its step 3.""",
)
PROPOSE = Prompt(
    "propose_technique",
    "Write down a technique as a skeleton that others can find and apply.",
    "technique",
    "What is changed, and why it helps.",
    """Write a skeleton for this technique: {technique}

1. search_skeletons: is it there already?
2. Read the form of a record (resource skel://schema/skeleton) and one that is like it (get_skeleton; resource
   skel://skeletons/NAME).
3. Write the record: symptoms as somebody would say them who does not know the technique, conditions in words, the
   schedule from skel's primitives or empty (advice), numerics and why, the sources with revision, path and licence.
   Claims name their source; nothing counts as measured.
4. Where the schedule is not empty, write cases: a small kernel with run() and make_inputs() that it must rewrite, and
   one that it must refuse, with the code of the refusal.
5. propose_skeleton. Failed cases say why; correct and propose again.""",
)
PROMPTS: dict[str, Prompt] = {prompt.name: prompt for prompt in (OPTIMIZE, SYMPTOM, PROPOSE)}
