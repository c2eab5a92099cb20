"""Timing: the launches of a run recorded, replayed from CUDA graphs, original and candidate interleaved.

`run` (on the machine with the GPU) works off a plan and writes what it measures to a state file as it goes; `decide`
and `report` turn a state into choices, verdicts and findings anywhere. The measuring side needs torch and triton only.
"""
