"""A delimiter that recorded material cannot forge, because it is made from that material."""

from collections.abc import Sequence
from hashlib import blake2b


def unforgeable_mark(texts: Sequence[str]) -> str:
    """A delimiter that none of `texts` holds, the same for the same texts: 16 hex digits."""
    state = blake2b(digest_size=8)
    for text in texts:
        state.update(text.encode("utf-8", "surrogatepass"))
    mark = state.hexdigest()
    while any(mark in text for text in texts):
        mark = blake2b(mark.encode(), digest_size=8).hexdigest()
    return mark
