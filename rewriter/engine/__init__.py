"""The engine: schedules into candidates, files into scans. The only door that the rest of the project uses."""

from .apply import candidates
from .candidate import Candidate, Candidates

__all__ = ["Candidate", "Candidates", "candidates"]
