"""What each verdict means, in the words that people are shown."""

from skel.store.schema.words import Verdict

MEANING = {
    Verdict.FASTER: "it is right, and faster",
    Verdict.NEUTRAL: "it is right, and as fast as before",
    Verdict.SLOWER: "it is right, and slower",
    Verdict.INCONCLUSIVE: "what was seen does not decide it",
    Verdict.IMPROVED: "it does what the skeleton is for",
    Verdict.EQUIVALENT: "it computes what the original computes; nothing was timed",
    Verdict.COMPILED: "it compiles; there was nothing to run it on",
    Verdict.WRONG: "it computes something else",
    Verdict.OVER_LIMITS: "no candidate stays within the limits of the target",
    Verdict.NOT_APPLICABLE: "the skeleton does not apply here",
    Verdict.FAILED: "it could not be compiled or run, or did what it must not",
}
