"""What commit messages claim of speed and memory, as numbers with their units, shapes and devices."""

from .model import Claim, Quantity
from .parse import parse_claims

__all__ = ["Claim", "Quantity", "parse_claims"]
