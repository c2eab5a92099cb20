"""What kernels show: the techniques they use and could use, their resources, and the conditions round them.

Triton is read through `ast` by the rewriter's detectors; CUDA through tree-sitter, in `skel.miner.cuda`.
"""
