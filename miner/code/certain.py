"""What a scan lists because it might be, and a source is not said to have: only the data's type, or a run, decides.

A 32-bit product of an index that was loaded may be a 64-bit one: the tensor decides. Of a program id it is not.
"""

from __future__ import annotations

from skel.rewriter.analysis.flow import flow_of
from skel.rewriter.analysis.widths import WidthAnalysis
from skel.rewriter.kernel.definition import KernelDef, Module

from .model import Occurrence


def is_certain(found: Occurrence, module: Module, kernel: KernelDef) -> bool:
    """False for a product whose index is loaded, and nothing says how wide it is."""
    if found.technique != "int64_offsets" or found.role != "could_use":
        return True
    products = WidthAnalysis(module, kernel, flow_of(kernel.node)).narrow_products()
    here = [p for p in products if p.node.lineno == found.line]
    return any(all(root.kind != "load" for root in product.roots) for product in here)
