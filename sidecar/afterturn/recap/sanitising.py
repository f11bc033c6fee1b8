"""Text that is safe to show and to send (recap.md, 'Input'): no controls, nothing that turns or hides other text."""

import re
from functools import cache

from afterturn.text import clean

# Beside what `clean` takes: the Arabic letter mark, annotation marks, tag characters and supplementary selectors.
_HIDDEN = dict.fromkeys([0x061C, *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE01F0)])
_LINE_ENDS = {0x2028: "\n", 0x2029: "\n"}


def visible(text: str) -> str:
    """`text` without escape sequences, control, bidirectional and hidden characters; again changes nothing.

    For what is shown and not sent: a half of a surrogate pair stays, as everywhere on the wire.
    """
    text = clean(text)
    return text if text.isascii() else text.translate(_HIDDEN | _LINE_ENDS)


def sanitise(text: str) -> str:
    """`visible` for a model; again changes nothing.

    The halves of a surrogate pair are joined, and a half without its other half becomes U+FFFD: no model API takes it.
    """
    text = clean(text)
    if text.isascii():
        return text
    if _surrogate().search(text) is not None:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.translate(_HIDDEN | _LINE_ENDS)


@cache
def _surrogate() -> re.Pattern[str]:
    return re.compile("[\ud800-\udfff]")
