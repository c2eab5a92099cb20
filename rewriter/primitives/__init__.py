"""Primitives: small rewrites, each with its own precondition; one per file."""
