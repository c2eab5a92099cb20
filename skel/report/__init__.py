"""Reports of stored evidence: one self-contained page, or Markdown.

    pieces ──view──▶ plain data ──html──▶ a page      (templates, escaped: evidence is what others wrote)
                                 └─markdown─▶ text

Plots are SVG whose places are percentages, so that text keeps its size on every screen and colours follow the page's.
"""

from .html import as_html
from .markdown import as_markdown
from .pieces import Piece
from .view import Report, view_of

__all__ = ["Piece", "Report", "as_html", "as_markdown", "view_of"]
