"""Analyses: what can be proved of a kernel. Unknown is always allowed, and always refuses."""
