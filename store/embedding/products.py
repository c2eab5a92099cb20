"""Products of few rows with a weight matrix, cut into blocks so small that BLAS does not copy the weights.

For a query of some twenty tokens `x @ w` spends most of its time on packing `w`. OpenBLAS multiplies without packing
where rows * columns * depth of a product is at most a million, so the columns are cut into blocks and the rows into
parts. Where a BLAS has no such path, the blocks cost about what the whole product does.
"""

from itertools import pairwise

from .arrays import F32, np

_MOST = 1_000_000
_DEEP = 512
WIDE, NARROW = 64, 32
"""Columns of a block: narrow where the depth is large."""


def blocks(weight: F32) -> F32:
    """`weight` [out, in] as [blocks, columns of a block, in], without a copy."""
    return weight.reshape(-1, _columns(weight.shape[-1]), weight.shape[-1])


def transposed(weight: F32) -> F32:
    """`weight` [out, in] copied as [blocks, in, columns of a block]: what `times` is fastest with."""
    return np.ascontiguousarray(blocks(weight).transpose(0, 2, 1))


def times(x: F32, weight: F32) -> F32:
    """`x` [rows, in] times a `transposed` weight: [rows, out]."""
    found = np.empty((len(x), weight.shape[0] * weight.shape[2]), np.float32)
    for start, part in _parts(x):
        product = part @ weight
        found[start:start + len(part)] = product.transpose(1, 0, 2).reshape(len(part), -1)
    return found


def times_blocks(x: F32, weight: F32) -> F32:
    """`x` [rows, in] times `blocks` of a weight: [rows, out]."""
    found = np.empty((len(x), weight.shape[0] * weight.shape[1]), np.float32)
    for start, part in _parts(x):
        product = weight @ np.ascontiguousarray(part.T)
        found[start:start + len(part)] = product.reshape(-1, len(part)).T
    return found


def _columns(depth: int) -> int:
    return NARROW if depth > _DEEP else WIDE


def _parts(x: F32) -> list[tuple[int, F32]]:
    """`x` cut into parts of as equal a number of rows as can be, each with its first row."""
    depth = x.shape[1]
    count = -(-len(x) // max(1, _MOST // (depth * _columns(depth))))
    bounds = [len(x) * part // count for part in range(count + 1)] if count else []
    return [(start, x[start:end]) for start, end in pairwise(bounds)]
