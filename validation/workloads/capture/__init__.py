"""Captures: the Triton launches of a user's own script, recorded so that they replay elsewhere.

recording   runs inside the user's process and writes down launches and the calls of launchers they came from
command     starts the user's command with the recorder in it
build       one zip of what its processes recorded
archive     reads it back: nothing in it is ever run
values      tensors again: those that were stored, or others like them
replay      the hooks (`run`, `make_inputs`, `WORKLOADS`) of a capture
workload    a capture as the sidecar of a file; which candidates can be judged by it
"""
