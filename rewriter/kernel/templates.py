"""Kernels that are generated rather than edited, from the Jinja2 templates of the package."""

from __future__ import annotations


def render(template: str, **fields: object) -> str:
    """The text of a template of `rewriter/templates`. Deterministic: the same fields give the same text."""
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=PackageLoader("skel.rewriter", "templates"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # the result is Python, not HTML
    )
    return environment.get_template(template).render(**fields)
