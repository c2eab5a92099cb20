"""Numerics: the original and each candidate run in workers of their own; a third process compares what they left.

original_task   makes the inputs, runs the original and its reference      (user's code)
candidate_task  runs a candidate on the same inputs                        (candidate's code)
judge_task      compares the saved tensors                                 (no code but ours)
"""
