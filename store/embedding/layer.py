"""One layer of BERT (https://arxiv.org/abs/1810.04805) in NumPy: attention, two linear maps, two norms.

A query's arrays fill the nearest cache and little more, so they are written in place where they can be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .arrays import F32, np
from .products import Linear, as_stored, transposed

HEADS, HEAD = 12, 32
WIDTH = HEADS * HEAD
_SCALE = np.float32(HEAD ** -0.5)
_EPSILON = np.float32(1e-12)
_MEAN = np.full(WIDTH, 1 / WIDTH, np.float32)
_PROJECTIONS = tuple(f"attention.self.{part}" for part in ("query", "key", "value"))


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer norm over vectors of `WIDTH`."""

    weight: F32
    bias: F32

    def __call__(self, x: F32) -> F32:
        """`x` [rows, WIDTH], normalised in place."""
        x -= (x @ _MEAN)[:, None]
        variance = np.einsum("ij,ij->i", x, x)
        variance *= _MEAN[0]
        variance += _EPSILON
        x /= np.sqrt(variance, out=variance)[:, None]
        x *= self.weight
        x += self.bias
        return x


@dataclass(frozen=True, slots=True)
class Layer:
    """The maps of one layer, by their use."""

    projections: Linear
    """Queries, keys and values side by side."""
    mixed: Linear
    attended: Norm
    inner: Linear
    outer: Linear
    done: Norm

    def __call__(self, x: F32) -> F32:
        """`x` [tokens, WIDTH] one layer on. May write into `x`."""
        mixed = self.mixed(self._attend(x))
        mixed += x
        x = self.attended(mixed)
        outer = self.outer(gelu(self.inner(x)))
        outer += x
        return self.done(outer)

    def _attend(self, x: F32) -> F32:
        parts = self.projections(x).reshape(len(x), 3, HEADS, HEAD).transpose(1, 2, 0, 3)
        scores = parts[0] @ parts[1].transpose(0, 2, 1)
        scores *= _SCALE
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        found = np.empty(x.shape, np.float32)
        np.matmul(scores, parts[2], out=found.reshape(len(x), HEADS, HEAD).transpose(1, 0, 2))
        return found


def layer_of(weights: Mapping[str, F32], number: int) -> Layer:
    """A layer on the weights as they lie in the model's file."""
    at = f"encoder.layer.{number}."

    def linear(*names: str) -> Linear:
        return as_stored([weights[f"{at}{name}.weight"] for name in names],
                         [weights[f"{at}{name}.bias"] for name in names])

    return Layer(linear(*_PROJECTIONS), linear("attention.output.dense"),
                 norm_of(weights, f"{at}attention.output.LayerNorm"), linear("intermediate.dense"),
                 linear("output.dense"), norm_of(weights, f"{at}output.LayerNorm"))


def norm_of(weights: Mapping[str, F32], name: str) -> Norm:
    """A norm by its name in the model's file."""
    return Norm(weights[f"{name}.weight"], weights[f"{name}.bias"])


def quick(layers: Sequence[Layer]) -> list[Layer]:
    """The same layers with their weights copied into the form that products are fastest with."""
    maps = transposed([linear for one in layers for linear in (one.projections, one.mixed, one.inner, one.outer)])
    return [Layer(maps[at], maps[at + 1], one.attended, maps[at + 2], maps[at + 3], one.done)
            for at, one in zip(range(0, len(maps), 4), layers, strict=True)]


def gelu(x: F32) -> F32:
    """x/2 (1 + erf(x/sqrt(2))) for |x| up to 1000, off by at most 1e-7 besides rounding. Writes into `x`.

    The error function is a hyperbolic tangent of a polynomial in x, which NumPy computes in the fewest passes. Its
    coefficients are the minimax fit of artanh(erf(x/sqrt(2)))/x in x^2 on [0, 5.3], weighted by what gelu makes of it;
    farther out the tangent is 1 in float32.
    """
    square = x * x
    series = square * _GELU[0]
    for coefficient in _GELU[1:-1]:
        series += coefficient
        series *= square
    series += _GELU[-1]
    series *= x
    np.tanh(series, out=series)
    series += np.float32(1)
    x *= np.float32(0.5)
    series *= x
    return series


_GELU = tuple(np.float32(each) for each in (
    1.8056162e-09, -1.3344640504e-07, 3.9691094257e-06, -5.52401583946e-05, -3.31299940932e-05, 0.0363342835174,
    0.7978842161105))
