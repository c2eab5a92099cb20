"""`python -m skel.store.embedding.ship`: encode the packaged records whose texts have changed.

Uses sentence-transformers, the encoder of record. With `--check` nothing is written, and the exit status is 1 where
a file is missing or out of date.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from ..load import load_all
from ..packaged import packaged_folder
from ..passages import embedded
from .shipped import FILE, SCOPE_FILE, out_of_scope, read_vectors, texts_sha256, write_vectors


def stale(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The files that are missing or were made from other texts, with the texts of today."""
    wanted = [(folder / record.name / FILE, embedded(record.model_dump(mode="json"))) for record in load_all(folder)]
    for path, texts in (*wanted, (SCOPE_FILE, out_of_scope())):
        found = read_vectors(path)
        if found is None or found[0] != texts_sha256(texts):
            yield path, texts


def main(arguments: list[str]) -> int:
    """Write, or with `--check` only name, the files that are out of date."""
    outdated = list(stale(packaged_folder()))
    for path, _ in outdated:
        sys.stderr.write(f"out of date: {path}\n")
    if "--check" in arguments or not outdated:
        return 1 if outdated else 0
    from .encoder import SentenceEncoder
    from .model import check_weights

    check_weights()
    encoder = SentenceEncoder()
    for path, texts in outdated:
        write_vectors(path, texts, encoder.encode(texts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
