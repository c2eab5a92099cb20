"""Numerics: the original and each candidate run in workers of their own; a third process compares what they left.

original_task         makes the inputs, runs the original and its reference   (user's code)
candidate_task        runs a candidate on the same inputs                     (candidate's code)
judge_original_task   the original against its reference and against itself   (no code but ours)
judge_candidate_task  a candidate against the original and the reference      (no code but ours)
cases, values         what is run; redzones, fresh, guarded_run: how; compare, outputs: held against what
"""
