"""The engine: schedules into candidates, files into scans. The only door that the rest of the project uses."""

from .apply import candidates
from .candidate import Candidate, Candidates
from .guard import Guarded, emit_guard
from .guard_choices import Choice
from .lanes import FileLanes, lanes
from .scan import FileScan, scan

__all__ = ["Candidate", "Candidates", "Choice", "FileLanes", "FileScan", "Guarded", "candidates", "emit_guard",
           "lanes", "scan"]
