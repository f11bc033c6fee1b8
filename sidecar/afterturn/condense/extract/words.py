"""Sets of words, written as text."""


def words(text: str) -> frozenset[str]:
    """The words of `text`, which is parted by blanks."""
    return frozenset(text.split())
