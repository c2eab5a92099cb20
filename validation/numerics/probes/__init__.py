"""Probes: further runs of a case that no single run can show, of the original and of every candidate.

configs      each configuration of an autotuned kernel alone, on fresh buffers
order        programs in another order, in the interpreter
same_memory  other inputs at the same addresses
batch        one sequence alone, out of a batch (hook BATCH)
partition    the parts one after the other, the state handed on (hooks SPLIT and STATE)

`run` makes them in the worker and saves what they gave; `judge` compares, in a process that runs no code but ours. What
the original itself does not pass does not count for a candidate.
"""
