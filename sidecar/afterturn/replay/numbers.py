"""Numbers as people read them."""

import time

_CHARS_PER_TOKEN = 4


def short(number: int) -> str:
    """A count in at most five characters: 999, 1.2k, 34k, 5.6M."""
    size = float(number)
    for unit in ("", "k", "M", "G"):
        if size < 999.5 or unit == "G":
            digits = f"{size:.1f}" if unit and size < 9.95 else f"{size:.0f}"
            return digits.removesuffix(".0") + unit
        size /= 1000
    raise AssertionError


def tokens(chars: int) -> int:
    """About how many tokens so many chars are; which model's, a file does not say, nor do they differ by much."""
    return round(chars / _CHARS_PER_TOKEN)


def percent(part: int, whole: int) -> str:
    """A part of a whole; "-" of nothing. What is not nothing is never said to be."""
    if not whole:
        return "-"
    share = 100 * part / whole
    if 0 < share < 1:
        return "<1 %"
    return f"{share:.0f} %"


def lasted(ms: int) -> str:
    """A length of time, in its two largest units: 3 h 20 min."""
    seconds = round(ms / 1000)
    if seconds < 1:
        return f"{ms} ms"
    parts: list[str] = []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        number, seconds = divmod(seconds, size)
        if number or parts:
            parts.append(f"{number} {unit}" if number else "")
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if part)


def moment(ms: int | None) -> str:
    """A time of this machine's zone, to the minute; "" where it is not known."""
    if not ms:
        return ""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(ms / 1000))
    except (OverflowError, OSError, ValueError):  # a file may hold any number
        return ""


def plural(count: int, noun: str, many: str | None = None) -> str:
    """A count with its noun: 1 turn, 2 turns."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
