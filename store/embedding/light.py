"""The forward pass of the packaged MiniLM in NumPy, for processes too short to import torch.

BERT (https://arxiv.org/abs/1810.04805) with six layers of twelve heads, then the mean over tokens, normalised. It is
the same function as sentence-transformers computes from the same weights; a test holds the two together.
"""

from collections.abc import Sequence
from functools import lru_cache

from .arrays import F32, np, one_thread
from .layer import layer_of, norm_of, quick
from .model import DEFAULT_MODEL, DIMENSIONS, model_folder
from .safetensors import read_float32

LAYERS = 6
MAX_TOKENS = 256


class LightEncoder:
    """Texts to unit vectors. The first text is encoded on the weights as they lie in the file; from the second on, or
    after `prepare`, they are held in another form, which costs 42 MB and makes a text twice as fast."""

    name = DEFAULT_MODEL
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        from tokenizers import Tokenizer

        folder = model_folder()
        weights = read_float32(folder / "model.safetensors")
        self._words = weights["embeddings.word_embeddings.weight"]
        self._places = (weights["embeddings.position_embeddings.weight"][:MAX_TOKENS]
                        + weights["embeddings.token_type_embeddings.weight"][0])
        self._norm = norm_of(weights, "embeddings.LayerNorm")
        self._layers = [layer_of(weights, number) for number in range(LAYERS)]
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._used = self._prepared = False

    def prepare(self) -> None:
        """Make the next text as fast as later ones."""
        if not self._prepared:
            self._layers = quick(self._layers)
            self._prepared = True

    def encode(self, texts: Sequence[str]) -> F32:
        """Unit vectors [len(texts), 384]."""
        rows = []
        with one_thread():
            for text in texts:
                if self._used:
                    self.prepare()
                rows.append(self._encode_one(text))
                self._used = True
        return np.stack(rows) if rows else np.zeros((0, DIMENSIONS), np.float32)

    def _encode_one(self, text: str) -> F32:
        ids = self._tokenizer.encode(text.encode(errors="replace").decode()).ids
        x = self._words[ids]
        x += self._places[:len(ids)]
        x = self._norm(x)
        for layer in self._layers:
            x = layer(x)
        mean: F32 = x.mean(0)
        mean /= np.sqrt(mean @ mean)
        return mean


@lru_cache(maxsize=1)
def light_encoder() -> LightEncoder:
    """The light encoder of this process. Raises StoreError where the model's package is not installed."""
    return LightEncoder()
