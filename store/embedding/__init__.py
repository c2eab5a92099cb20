"""Sentence embeddings: the encoder of record, a light one on the same weights, and the vectors that ship."""
