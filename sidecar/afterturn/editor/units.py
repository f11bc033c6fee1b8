"""Columns as editors count them - in UTF-8, UTF-16 or UTF-32 code units - and as chars. Pure (LSP 3.17, 'Position').

pygls's own codec looks at each char in Python: more than a second for a line of ten million, here 30 ms.
"""

UTF8 = "utf-8"
UTF16 = "utf-16"
UTF32 = "utf-32"

_CODECS = {UTF8: ("utf-8", 1), UTF16: ("utf-16-le", 2)}


def index_of(line: str, column: int, encoding: str) -> int:
    """The char of `line` at a column; a column past the end is the end, one inside a char is that char's start."""
    if encoding == UTF32 or line.isascii():
        return min(column, len(line))
    codec, size = _CODECS[encoding]
    # A char takes at least one unit, so that no more than `column` chars can be before the column.
    data = line[: column + 1].encode(codec, "surrogatepass")
    cut = column * size
    if cut >= len(data):
        return min(column, len(line[: column + 1]))
    while cut > 0 and _inside(data, cut, size):
        cut -= size
    return len(data[:cut].decode(codec, "surrogatepass"))


def column_of(line: str, index: int, encoding: str) -> int:
    """The column of the char at `index`."""
    if encoding == UTF32 or line.isascii():
        return index
    codec, size = _CODECS[encoding]
    return len(line[:index].encode(codec, "surrogatepass")) // size


def _inside(data: bytes, cut: int, size: int) -> bool:
    """Whether a char would be cut in two here."""
    if size == 1:
        return data[cut] & 0xC0 == 0x80
    low, before = data[cut + 1], data[cut - 1]
    return 0xDC <= low <= 0xDF and 0xD8 <= before <= 0xDB
