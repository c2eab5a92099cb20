"""skel: an optimization-skeleton knowledge base and kernel rewriter for Triton."""

__version__ = "0.1.0"
