"""How long a provider asks to be left alone: `Retry-After` in both of its forms."""

import math
import re

_SECONDS = re.compile(r"\s*\d+(?:\.\d*)?\s*", re.ASCII)
LONGEST_MS = 7 * 24 * 3600 * 1000


def retry_after_ms(value: str | None, now_ms: int) -> int | None:
    """In ms from now, at most a week; None where nothing sensible is said. value: seconds, or an HTTP date."""
    if value is None:
        return None
    if _SECONDS.fullmatch(value):
        return min(math.ceil(float(value) * 1000), LONGEST_MS) if len(value) < 20 else LONGEST_MS
    from email.utils import parsedate_to_datetime

    try:
        at_ms = parsedate_to_datetime(value).timestamp() * 1000
    except (ValueError, OverflowError):
        return None
    return min(max(0, math.ceil(at_ms - now_ms)), LONGEST_MS)
