"""Errors of calls: what an agent is answered where there is no result."""

from .code import error

CALLS = (
    error("unknown_tool", "there is no tool {tool}", "there are {have}"),
    error("bad_input", "{field}: {why}", "see the tool's input schema; unknown fields are errors"),
    error("too_large", "{what} is larger than {limit}", "send less, or name a smaller file"),
    error("outside_roots", "{path} lies under none of the roots given at start", "use a path under {roots}; links are followed before they are judged"),
    error("no_such_file", "there is no file {path}", "paths are absolute, or relative to the first root"),
    error("unreadable_file", "{path} cannot be used: {why}", "name a regular file of UTF-8 Python source"),
    error("file_exists", "{path} is there already", "name another file: only files named STEM_SKELETON.py are replaced"),
    error("unknown_skeleton", "{message}", "search_skeletons finds names"),
    error("unknown_job", "there is no job {job} of these roots", "get_job without a job gives the newest one"),
    error("job_not_done", "{job} is {state}, so it has no {what}", "get_job with wait_seconds waits for it"),
    error("job_interrupted", "the process that worked on it is gone", "ask for the same again"),
    error("job_timeout", "it took over {seconds} s and was stopped", "a smaller workload, or without full"),
    error("job_crashed", "{error}", "a fault of skel: the audit log has the call"),
    error("queue_full", "{waiting} jobs wait already", "wait for one with get_job, or cancel_job"),
    error("too_many_calls", "{calls} calls are open already", "wait for an answer before the next call"),
    error("no_evidence", "{job} measured nothing that could be evidence: {why}", "evidence comes from a job of apply_skeleton, check_equivalence or benchmark that ran a candidate"),
    error("bad_record", "{message}", "correct the record; `skel schema` has its form"),
    error("not_here", "{what} is not available here: {why}", "see `skel doctor`"),
    error("store_unavailable", "the database cannot be used: {message}", "look at its place and its permissions"),
    error("internal_error", "skel failed in {tool} ({kind})", "a fault of skel, not of the call; the audit log has it"),
)
