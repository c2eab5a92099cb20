"""Ablation: a technique is taken out of an expert's own kernel, and both are timed: what it is worth there.

`prepare` reads wheels and writes a bundle (sources, and the edits of `rewriter/ablation`'s inverses for every kernel).
`run` works a bundle off on the machine with the GPU: public operators are called at realistic shapes, their Triton
launches are recorded, and each is launched again without the technique, on copies of the same arguments. What agrees is
timed. `run` and what it uses needs torch, triton and numpy only. `table` makes the evidence of it.
"""
