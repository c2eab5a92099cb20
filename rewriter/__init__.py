"""The rewriter: reads a Triton kernel and its launcher, proves facts, and applies skeletons to the source.

Imports `skel.store.schema` only; never torch or triton.
"""
