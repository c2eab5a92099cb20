"""Encoders: the one of record is sentence-transformers, which takes any of its models by name or folder."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

from ..errors import StoreError
from .arrays import F32, np
from .local import is_local
from .model import DEFAULT_MODEL, model_folder


class Encoder(Protocol):
    """Texts to unit vectors."""

    @property
    def name(self) -> str:
        """The model's name, under which its vectors are stored."""

    def encode(self, texts: Sequence[str]) -> F32:
        """Unit vectors [len(texts), dimensions]."""


class SentenceEncoder:
    """A sentence-transformers model on the CPU. Never fetches one: it must be a folder or in the local cache."""

    def __init__(self, name: str = DEFAULT_MODEL) -> None:
        self.name = name
        where = str(model_folder()) if name == DEFAULT_MODEL else name
        absent = StoreError("this sentence-transformers model is not on this machine", name,
                            "give the folder of a model, or download it first")
        if not is_local(where):
            raise absent
        from sentence_transformers import SentenceTransformer

        try:
            self._model: Any = SentenceTransformer(where, device="cpu", local_files_only=True)
        except (OSError, ValueError) as error:
            raise absent from error

    def encode(self, texts: Sequence[str]) -> F32:
        """Unit vectors [len(texts), dimensions]."""
        vectors = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False, batch_size=64)
        return np.asarray(vectors, dtype=np.float32)


@lru_cache(maxsize=2)
def encoder_of(model: str = DEFAULT_MODEL) -> Encoder:
    """The encoder for a model: for the packaged one the light forward pass, for others sentence-transformers.

    Raises StoreError where the model is not on this machine.
    """
    if model == DEFAULT_MODEL:
        from .light import light_encoder

        return light_encoder()
    return SentenceEncoder(model)
