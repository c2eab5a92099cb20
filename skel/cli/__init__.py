"""The command line: one command a file, loaded only when it is called. `main` is the entry point."""

from .app import main

__all__ = ["main"]
