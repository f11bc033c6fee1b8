"""Texts as the tables hold them: bytes, compressed where that pays (store.md, 'Blobs')."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zstandard import ZstdCompressor, ZstdDecompressor

COMPRESSED_FROM_BYTES = 4096
LEVEL = 3

_PLAIN, _ZSTD = b"\x00", b"\x01"


def encoded(text: str) -> bytes:
    """A text as bytes; lone surrogates pass."""
    return text.encode("utf-8", "surrogatepass")


def decoded(data: bytes) -> str:
    """The text behind `encoded`."""
    return data.decode("utf-8", "surrogatepass")


def encoded_or_none(text: str | None) -> bytes | None:
    """`encoded`, where there is a text."""
    return None if text is None else encoded(text)


def decoded_or_none(data: bytes | None) -> str | None:
    """`decoded`, where there is a text."""
    return None if data is None else decoded(data)


class Packer:
    """Seals texts, with one compressor for all of them, which takes as long to make as a small text to compress."""

    __slots__ = ("_compressor", "_from_bytes")

    def __init__(self, from_bytes: int = COMPRESSED_FROM_BYTES) -> None:
        """from_bytes: what is smaller is left as it is: it is read faster so, and packing gains little."""
        self._from_bytes = from_bytes
        self._compressor: ZstdCompressor | None = None

    def seal(self, text: str) -> bytes:
        """A text as it is stored: one byte that names the packing, then the bytes, compressed where large."""
        return self.seal_bytes(encoded(text))

    def seal_bytes(self, data: bytes) -> bytes:
        """`seal`, of what is bytes already."""
        if len(data) >= self._from_bytes:
            packed = self._compress(data)
            if len(packed) < len(data):
                return _ZSTD + packed
        return _PLAIN + data

    def seal_or_none(self, text: str | None) -> bytes | None:
        """`seal`, where there is a text."""
        return None if text is None else self.seal(text)

    def _compress(self, data: bytes) -> bytes:
        if self._compressor is None:
            from zstandard import ZstdCompressor  # 15 ms to import: not before something is large enough

            self._compressor = ZstdCompressor(level=LEVEL)
        return self._compressor.compress(data)


class Unpacker:
    """Unseals many, with one decompressor for all of them, which takes longer to make than a small text to unpack."""

    __slots__ = ("_decompressor",)

    def __init__(self) -> None:
        self._decompressor: ZstdDecompressor | None = None

    def unseal_bytes(self, sealed: bytes) -> bytes:
        """The bytes behind `seal_bytes`."""
        if sealed[:1] == _PLAIN:
            return sealed[1:]
        if self._decompressor is None:
            from zstandard import ZstdDecompressor

            self._decompressor = ZstdDecompressor()
        return self._decompressor.decompress(memoryview(sealed)[1:])


def seal(text: str) -> bytes:
    """One text, sealed."""
    return Packer().seal(text)


def unseal(sealed: bytes) -> str:
    """The text behind `seal`."""
    return decoded(unseal_bytes(sealed))


def unseal_bytes(sealed: bytes) -> bytes:
    """The bytes behind `seal_bytes`."""
    return Unpacker().unseal_bytes(sealed)


def seal_or_none(text: str | None) -> bytes | None:
    """`seal`, where there is a text."""
    return None if text is None else seal(text)


def unseal_or_none(sealed: bytes | None) -> str | None:
    """`unseal`, where there is a text."""
    return None if sealed is None else unseal(sealed)
