"""The kernel model: source text with positions, edits, kernel definitions, launches."""
