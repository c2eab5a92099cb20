"""What a claim belongs to: shapes, devices and data types named near it."""

from __future__ import annotations

import re

_PAIR = re.compile(r"\b([A-Za-z][A-Za-z_]{0,11}\d?)\s?=\s?(\d[\d,]*k?)\b(?!\.\d)")
_SIZES = frozenset(
    "b bs bsz batch batch_size n m k t s q d h hq hk hkv hv l v c e g bt seq seqlen seq_len len length dim hidden head "
    "heads head_dim topk tokens num_tokens skv tq tk kv isl osl dk dv nheads concurrency groups experts".split()
)
_GLUED = re.compile(r"\b((?:[A-Z]{1,2}\d+_){1,6}[A-Z]{1,2}\d+)\b")
_PRODUCT = re.compile(r"\b(\d{2,6}(?:\s?[x×*]\s?\d{1,6}){1,4})\b")
_TILE = re.compile(r"(tiles?|blocks?|swizzle|chunks?)\s*(of\s*)?\Z", re.IGNORECASE)
"""A product behind one of these is no problem size."""
_WORDED = re.compile(r"\b(?:batch(?: size)?|bs)\s+(?:of\s+)?(\d+)\b", re.IGNORECASE)
_GPU = re.compile(
    r"\b(?:(?:NVIDIA|AMD|Intel|Ascend|Hopper|RTX|GeForce|Tesla)\s)?"
    r"((?:GB|GH)[123]00|[BH][1-3]00(?:[- ]?(?:SXM\d?|PCIe|NVL))?|H800(?:[- ]SXM\d?)?|H20|A100|A800|A10G?|A30|A40|"
    r"L40S?|L4|L20|V100|T4|RTX\s?(?:PRO\s?)?\d{4}(?:\s?Ti)?|[345]090|B300|MI\d{3}[XA]?|gfx\d{3,4}\w?|"
    r"SM\d{2,3}[a-z]?|sm_?\d{2,3}[a-z]?|910[A-C]\d?|PVC|B580|GB10|DGX Spark|Jetson \w+)\b"
)
_DTYPE = re.compile(r"\b(bf16|bfloat16|fp16|float16|fp32|float32|tf32|fp8|fp4|nvfp4|mxfp4|int8|w8a8)\b", re.IGNORECASE)


def shape_in(text: str) -> str | None:
    """Sizes that a text names; None where it names none."""
    glued = _GLUED.search(text)
    if glued:
        return glued[1]
    pairs = [(name, value) for name, value in _PAIR.findall(text) if name.lower() in _SIZES]
    if pairs:
        return " ".join(f"{name}={value.replace(',', '')}" for name, value in dict(pairs).items())
    product = _PRODUCT.search(text)
    if product and not _TILE.search(text[: product.start()]):
        return re.sub(r"\s?[x×*]\s?", "x", product[1])
    worded = _WORDED.search(text)
    return f"batch={worded[1]}" if worded else None


def gpus_in(text: str) -> tuple[str, ...]:
    """Devices and architectures that a text names, in order, each once."""
    return tuple(dict.fromkeys(m[1] for m in _GPU.finditer(text)))


def dtype_in(text: str) -> str | None:
    """The first data type that a text names."""
    found = _DTYPE.search(text)
    return found[1].lower() if found else None
