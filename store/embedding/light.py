"""The forward pass of the packaged MiniLM in NumPy, for processes too short to import torch.

BERT (https://arxiv.org/abs/1810.04805) with six layers of twelve heads, then the mean over tokens, normalised. It is
the same function as sentence-transformers computes from the same weights; a test holds the two together.
"""

from collections.abc import Sequence
from functools import lru_cache

from .arrays import F32, np, one_thread
from .model import DEFAULT_MODEL, DIMENSIONS, model_folder
from .products import blocks, times, times_blocks, transposed
from .safetensors import read_float32

LAYERS, HEADS, HEAD = 6, 12, 32
MAX_TOKENS = 256
_EPSILON = np.float32(1e-12)
_SHARE = np.float32(1 / DIMENSIONS)
_PROJECTIONS = ("query", "key", "value")
_MATRICES = ("attention.output.dense", "intermediate.dense", "output.dense")


class LightEncoder:
    """Texts to unit vectors. The first text is encoded on the weights as they lie in the file; from the second on
    they are held transposed, which costs 42 MB and makes a text twice as fast."""

    name = DEFAULT_MODEL
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        from tokenizers import Tokenizer

        folder = model_folder()
        self._weights = read_float32(folder / "model.safetensors")
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._transposed: dict[str, F32] = {}
        self._biases: dict[str, F32] = {}
        self._used = False

    def encode(self, texts: Sequence[str]) -> F32:
        """Unit vectors [len(texts), 384]."""
        rows = []
        with one_thread():
            for text in texts:
                if self._used and not self._transposed:
                    self._transpose()
                rows.append(self._encode_one(text))
                self._used = True
        return np.stack(rows) if rows else np.zeros((0, DIMENSIONS), np.float32)

    def _encode_one(self, text: str) -> F32:
        x = self._embed(self._tokenizer.encode(text.encode(errors="replace").decode()).ids)
        for layer in range(LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}.")
        mean: F32 = x.mean(0)
        mean /= np.sqrt(mean @ mean)
        return mean

    def _embed(self, ids: list[int]) -> F32:
        w = self._weights
        x = (w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
             + w["embeddings.token_type_embeddings.weight"][0])
        return self._norm(x, "embeddings.LayerNorm")

    def _layer(self, x: F32, at: str) -> F32:
        query, key, value = (part.reshape(-1, HEADS, HEAD).transpose(1, 0, 2) for part in self._projections(x, at))
        scores = query @ key.transpose(0, 2, 1) * np.float32(HEAD ** -0.5)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ value
        mixed = mixed.transpose(1, 0, 2).reshape(x.shape)
        x = self._norm(x + self._linear(mixed, f"{at}attention.output.dense"), f"{at}attention.output.LayerNorm")
        inner = _gelu(self._linear(x, f"{at}intermediate.dense"))
        return self._norm(x + self._linear(inner, f"{at}output.dense"), f"{at}output.LayerNorm")

    def _projections(self, x: F32, at: str) -> list[F32]:
        """Queries, keys and values, out of one product where the weights are transposed."""
        fused = self._transposed.get(f"{at}attention.self")
        if fused is None:
            return [self._linear(x, f"{at}attention.self.{part}") for part in _PROJECTIONS]
        return np.split(times(x, fused) + self._biases[f"{at}attention.self"], len(_PROJECTIONS), axis=1)

    def _linear(self, x: F32, at: str) -> F32:
        ready = self._transposed.get(at)
        product = times(x, ready) if ready is not None else times_blocks(x, blocks(self._weights[f"{at}.weight"]))
        product += self._weights[f"{at}.bias"]
        return product

    def _norm(self, x: F32, at: str) -> F32:
        centred = x - np.add.reduce(x, -1, keepdims=True) * _SHARE
        variance = np.einsum("ij,ij->i", centred, centred)[:, None] * _SHARE
        scaled: F32 = centred / np.sqrt(variance + _EPSILON)
        return scaled * self._weights[f"{at}.weight"] + self._weights[f"{at}.bias"]

    def _transpose(self) -> None:
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            for part in _MATRICES:
                self._transposed[at + part] = transposed(self._weights[f"{at}{part}.weight"])
            parts = [f"{at}attention.self.{part}" for part in _PROJECTIONS]
            self._transposed[f"{at}attention.self"] = transposed(
                np.concatenate([self._weights[f"{part}.weight"] for part in parts]))
            self._biases[f"{at}attention.self"] = np.concatenate([self._weights[f"{part}.bias"] for part in parts])


@lru_cache(maxsize=1)
def light_encoder() -> LightEncoder:
    """The light encoder of this process. Raises StoreError where the model's package is not installed."""
    return LightEncoder()


def _gelu(x: F32) -> F32:
    half = x * np.float32(0.5)
    x *= np.float32(0.5 ** 0.5)
    erf = _erf(x)
    erf += 1
    erf *= half
    return erf


def _erf(x: F32) -> F32:
    """Abramowitz and Stegun 7.1.26: off by at most 1.5e-7. In place where it can be: the arrays fill a cache."""
    size = np.abs(x)
    t = size * np.float32(0.3275911)
    t += 1
    np.divide(1, t, out=t)
    series = t * np.float32(_ERF[0])
    for coefficient in _ERF[1:]:
        series += np.float32(coefficient)
        series *= t
    np.multiply(size, size, out=size)
    np.negative(size, out=size)
    series *= np.exp(size, out=size)
    np.subtract(1, series, out=series)
    signed: F32 = np.copysign(series, x, out=series)
    return signed


_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
