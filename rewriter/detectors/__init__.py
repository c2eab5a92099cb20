"""Detectors: which kernels use a technique already, and which show its symptom. One technique per file."""

from .base import Detector, Seen
from .registry import DETECTORS
from .view import KernelView

__all__ = ["DETECTORS", "Detector", "KernelView", "Seen"]
