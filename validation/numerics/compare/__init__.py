"""Comparisons of two tensors: each a small pure function that returns None, or what is wrong in figures."""
