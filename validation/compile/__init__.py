"""Compile check: every launch of a target compiled for a named GPU, on any machine, and what the compiler made of it.

check       the main process's side: `compile_check(...)` gives CompileReports
task        the worker's side, one worker a candidate
stub_driver, launches    how a launch becomes a compilation without a GPU
nvidia, amd, layout      figures read off binaries and intermediate code
"""
