"""Line numbers that tools print before the lines of a file."""

import re

import msgspec

# `   12->text` (with an arrow), `00012| text`, `12\ttext`, `12: text`, `12-text`: harnesses, nl, cat -n, grep -n.
_NUMBERED = re.compile(r" {0,9}(\d{1,7})(\u2192|\t|\| ?|: ?|\u2502 ?|-)")
_PROBE = 40


class Numbered(msgspec.Struct, frozen=True):
    """Lines without their numbers, and the numbers as printed ("" for a line that has none); None if there are none."""

    texts: list[str]
    numbers: list[str] | None

    def number(self, index: int) -> str:
        return self.numbers[index] if self.numbers is not None else ""


def is_numbered(lines: list[str]) -> bool:
    """Whether most of the first lines have a number and they rise."""
    return bool(_numbered(lines))


def split_numbers(lines: list[str]) -> Numbered:
    """Take the numbers off, where most of the first lines have one and they rise."""
    found = _numbered(lines)
    if not found:
        return Numbered(lines, None)
    separator = found[0][2][0]
    blank = all(match[2][1:] == " " for match in found if match.string[match.end() :])
    numbers: list[str] = []
    texts: list[str] = []
    for line in lines:
        number, mark, text = line.partition(separator)
        number = number.strip()
        if mark and number.isdigit():
            numbers.append(number)
            texts.append(text[1:] if blank and text[:1] == " " else text)
        else:
            numbers.append("")
            texts.append(line)
    return Numbered(texts, numbers)


def _numbered(lines: list[str]) -> list[re.Match[str]]:
    """The matches of the first lines that have a number; none if those are less than three in four or do not rise."""
    found: list[re.Match[str]] = []
    without = 0
    for line in lines[:_PROBE]:
        match = _NUMBERED.match(line)
        if match is not None:
            found.append(match)
        elif line and not line.isspace():
            without += 1
            if without > _PROBE // 4:
                return []
    if without > (len(found) + without) // 4:
        return []
    numbers = [int(match[1]) for match in found]
    return found if numbers == sorted(numbers) else []
