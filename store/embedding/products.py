"""Products of few rows with a weight matrix, cut into blocks so small that BLAS does not copy the weights.

For a query of some twenty tokens `x @ w` spends most of its time on packing `w`. OpenBLAS multiplies without packing
where rows * columns * depth of a product is at most a million, so the columns are cut into blocks and the rows into
parts. Where a BLAS has no such path, the blocks cost about what the whole product does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .arrays import F32, np

_MOST = 1_000_000
_DEEP = 512
WIDE, NARROW = 64, 32
"""Columns of a block: narrow where the depth is large."""


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear map. The weights lie as in the model's file, or `transposed`: what a product is fastest with."""

    weights: tuple[F32, ...]
    """Matrices whose outputs stand side by side: [blocks, columns of a block, in] or [blocks, in, columns of a block].
    """
    bias: F32
    """[out]."""
    transposed: bool = False

    def __call__(self, x: F32) -> F32:
        """`x` [rows, in] mapped: [rows, out]."""
        found = np.empty((len(x), len(self.bias)), np.float32)
        start = 0
        for weight in self.weights:
            end = start + len(weight) * weight.shape[2 if self.transposed else 1]
            (_times if self.transposed else _times_blocks)(x, weight, found[:, start:end])
            start = end
        found += self.bias
        return found


def as_stored(weights: Sequence[F32], biases: Sequence[F32]) -> Linear:
    """The map of some `weights` [out, in] side by side, without a copy of them."""
    return Linear(tuple(weight.reshape(-1, _columns(weight.shape[-1]), weight.shape[-1]) for weight in weights),
                  biases[0] if len(biases) == 1 else np.concatenate(biases))


def transposed(linears: Sequence[Linear]) -> list[Linear]:
    """The same maps with their weights transposed, in the order of use and in one piece of memory.

    NumPy asks for large pages for so large a piece: the processor then finds the weights at half the cost.
    """
    room = np.empty(sum(weight.size for linear in linears for weight in linear.weights), np.float32)
    found, start = [], 0
    for linear in linears:
        blocks, columns, depth = linear.weights[0].shape
        shape = (blocks * len(linear.weights), depth, columns)
        weight = room[start:start + shape[0] * depth * columns].reshape(shape)
        for number, part in enumerate(linear.weights):
            weight[number * blocks:(number + 1) * blocks] = part.transpose(0, 2, 1)
        found.append(Linear((weight,), linear.bias, transposed=True))
        start += weight.size
    return found


def _times(x: F32, weight: F32, found: F32) -> None:
    """BLAS writes each block's columns where they belong."""
    blocks, _, columns = weight.shape
    for start, end in _parts(x):
        np.matmul(x[start:end], weight, out=found[start:end].reshape(-1, blocks, columns).transpose(1, 0, 2))


def _times_blocks(x: F32, weight: F32, found: F32) -> None:
    for start, end in _parts(x):
        product = weight @ np.ascontiguousarray(x[start:end].T)
        found[start:end] = product.reshape(-1, end - start).T


def _columns(depth: int) -> int:
    return NARROW if depth > _DEEP else WIDE


def _parts(x: F32) -> Iterator[tuple[int, int]]:
    """The bounds of parts of as equal a number of rows as can be."""
    depth = x.shape[1]
    count = -(-len(x) // max(1, _MOST // (depth * _columns(depth))))
    return pairwise([len(x) * part // count for part in range(count + 1)] if count else [])
