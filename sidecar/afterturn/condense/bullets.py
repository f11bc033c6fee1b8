"""The lines of a summary by the call they are about (condense.md, 'Checking a reply' and 'Replacements').

A model's reply and extractive bullets take the same way: parsed or made into `Bullet`s, then written with labels.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from afterturn.condense.labels import label, read_label, strip_labels
from afterturn.fences import OUTSIDE, fence_kind, mark_fences

NOTHING = " \t\r\n-*"
"""A bullet of nothing but these says nothing."""

_STARTS = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)]|#{1,6})\s")


class Bullet(Struct, frozen=True):
    """One bullet with the lines that go on it, labels removed.

    position: the call it is about, from 0; None for none. labelled: it led with that call's label.
    """

    position: int | None
    labelled: bool
    text: str


def parse_bullets(body: str, tool_names: Sequence[str]) -> list[Bullet]:
    """A reply as bullets. Lines without a label belong to the label before them, those before any label to none."""
    lines = body.split("\n")
    marks = mark_fences([fence_kind(strip_labels(line)) for line in lines])
    found: list[tuple[int | None, bool, list[str]]] = []
    position: int | None = None
    goes_on = alone = False
    for line, mark in zip(lines, marks, strict=True):
        label_found = read_label(line, tool_names) if mark == OUTSIDE else None
        if label_found is not None:
            position = label_found.position
            prefix, rest = label_found.prefix, strip_labels(label_found.rest).rstrip()
            text = prefix + rest if position is not None else strip_labels(prefix + rest)
            found.append((position, position is not None, [text]))
            goes_on, alone = True, position is not None and not rest
            continue
        text = line if mark != OUTSIDE else strip_labels(line).rstrip()
        if mark == OUTSIDE and not text.strip(NOTHING):
            goes_on = False
        elif alone or (goes_on and (mark != OUTSIDE or not _STARTS.match(text))):
            # A label on a line of its own is one bullet with the one after it.
            found[-1][2].append(text)
            goes_on, alone = True, False
        else:
            found.append((position, False, [text]))
            goes_on = True
    bullets = (Bullet(position, labelled, "\n".join(texts)) for position, labelled, texts in found)
    return [bullet for bullet in bullets if bullet.labelled or bullet.text.strip(NOTHING)]


def extractive_bullets(position: int, lines: Sequence[str]) -> list[Bullet]:
    """Extractive lines of one call as bullets."""
    return [Bullet(position, index == 0, line) for index, line in enumerate(lines)]


def written(bullets: Sequence[Bullet], tool_names: Sequence[str]) -> str:
    """Bullets as a body with labels: on those that had one, and on the first of each call."""
    seen: set[int] = set()
    lines: list[str] = []
    for bullet in bullets:
        if bullet.position is None or not (bullet.labelled or bullet.position not in seen):
            lines.append(bullet.text)
            continue
        seen.add(bullet.position)
        lines.append(with_label(bullet.text, label(bullet.position + 1, tool_names[bullet.position])))
    return "\n".join(lines)


def with_label(text: str, mark: str) -> str:
    """A bullet with a label as the first thing on it, behind its mark where it has one (seed: the prefix stays)."""
    first, line_end, more = text.partition("\n")
    stripped = first.lstrip()
    prefix = first[: len(first) - len(stripped)]
    if stripped[:2] in ("- ", "* "):
        prefix, stripped = prefix + stripped[:2], stripped[2:].lstrip()
    return f"{prefix}{mark} {stripped}{line_end}{more}"


def texts_by_call(bullets: Sequence[Bullet]) -> dict[int, list[str]]:
    """The bullets of each call that has any which say something, by its position."""
    found: dict[int, list[str]] = {}
    for bullet in bullets:
        if bullet.position is not None:
            found.setdefault(bullet.position, []).append(bullet.text)
    return {position: texts for position, texts in found.items() if any(text.strip(NOTHING) for text in texts)}
