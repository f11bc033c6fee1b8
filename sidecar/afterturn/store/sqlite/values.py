"""Texts as the tables hold them: bytes, compressed where that pays (store.md, 'Blobs')."""

from __future__ import annotations

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


def seal(text: str) -> bytes:
    """A text as it is stored: one byte that names the packing, then the bytes, compressed from 4 KB on."""
    data = encoded(text)
    if len(data) >= COMPRESSED_FROM_BYTES:
        from zstandard import ZstdCompressor  # 15 ms to import: not before something is large enough

        packed = ZstdCompressor(level=LEVEL).compress(data)
        if len(packed) < len(data):
            return _ZSTD + packed
    return _PLAIN + data


def unseal(sealed: bytes) -> str:
    """The text behind `seal`."""
    if sealed[:1] == _PLAIN:
        return decoded(sealed[1:])
    from zstandard import ZstdDecompressor

    return decoded(ZstdDecompressor().decompress(memoryview(sealed)[1:]))


def seal_or_none(text: str | None) -> bytes | None:
    """`seal`, where there is a text."""
    return None if text is None else seal(text)


def unseal_or_none(sealed: bytes | None) -> str | None:
    """`unseal`, where there is a text."""
    return None if sealed is None else unseal(sealed)
