"""Every number of a recording, once."""

from __future__ import annotations

STORED_BYTES = 256 << 20
"""Most bytes of tensor values that one process stores; what comes later is described by statistics."""
PIECE_BYTES = 64 << 20
"""Largest single piece of memory whose values are stored."""
SIGNATURES = 16
"""Most different calls of one launcher that are recorded; further ones are only counted."""
ALIGNMENT = 512
"""Pieces start at a multiple of so many bytes, so that alignment stays what it was."""
UNUSED = 2
"""Calls of one form that launched nothing, after which its arguments are no longer copied."""
