"""Inverse primitives: each takes one technique out of a kernel that has it, so that its worth can be measured there.

One file each, as in `primitives/`; `registry` lists them. An inverse is exact about what it undoes, and refuses where
the technique is not there or cannot be taken out of the kernel alone.
"""
