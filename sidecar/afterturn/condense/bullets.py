"""The lines of a summary by the call they are about (condense.md, 'Checking a reply' and 'Replacements').

A model's reply and extractive bullets take the same way: parsed or made into `Bullet`s, checked, written with labels.
"""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from afterturn.condense.fences import OUTSIDE, fence_kind, mark_fences
from afterturn.condense.grounding import Source, is_grounded
from afterturn.condense.labels import label, read_label, strip_labels
from afterturn.condense.serialise import PromptedCall
from afterturn.condense.untrusted import is_untrusted, without_refs

_STARTS = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)]|#{1,6})\s")


class Bullet(Struct, frozen=True):
    """One bullet with the lines that go on it, labels removed.

    position: the call it is about, from 0; None for none. labelled: it led with that call's label.
    """

    position: int | None
    labelled: bool
    text: str


class Checked(Struct, frozen=True):
    """Bullets fit to be passed on. replaced: failed and gave way to extractive ones; dropped: failed, about no call."""

    bullets: list[Bullet]
    replaced: int
    dropped: int


def parse_bullets(body: str, tool_names: Sequence[str]) -> list[Bullet]:
    """A reply as bullets. Lines without a label belong to the label before them, those before any label to none."""
    lines = body.split("\n")
    marks = mark_fences([fence_kind(strip_labels(line)) for line in lines])
    bullets: list[Bullet] = []
    position: int | None = None
    goes_on = False
    for line, mark in zip(lines, marks, strict=True):
        found = read_label(line, tool_names) if mark == OUTSIDE else None
        if found is not None:
            position = found.position
            bullets.append(Bullet(position, position is not None, strip_labels(found.prefix + found.rest).rstrip()))
            goes_on = True
            continue
        text = line if mark != OUTSIDE else strip_labels(line).rstrip()
        if mark == OUTSIDE and not text.strip():
            goes_on = False
        elif goes_on and (mark != OUTSIDE or not _STARTS.match(text)):
            last = bullets[-1]
            bullets[-1] = Bullet(last.position, last.labelled, f"{last.text}\n{text}" if last.text.strip() else text)
        else:
            bullets.append(Bullet(position, False, text))
            goes_on = True
    return [bullet for bullet in bullets if bullet.text.strip(" \t-*")]


def extractive_bullets(position: int, lines: Sequence[str]) -> list[Bullet]:
    """Extractive lines of one call as bullets."""
    return [Bullet(position, index == 0, line) for index, line in enumerate(lines)]


def check_bullets(
    bullets: Sequence[Bullet],
    calls: Sequence[PromptedCall],
    context: str,
    extractive: Callable[[int], Sequence[str]],
) -> Checked:
    """Keep what is grounded in its call and safe to pass on; what is not gives way to that call's extractive bullets.

    calls: as they were prompted, by position. context: the rest of the prompt's material. extractive: lines of a call.
    """
    whole = Source(context, *(text for call in calls for text in (call.tool_name, call.args, call.text)))
    sources = [Source(call.tool_name, call.args, call.text) for call in calls]
    kept: list[Bullet] = []
    given: set[int] = set()
    replaced = dropped = 0
    for bullet in bullets:
        source = whole if bullet.position is None else sources[bullet.position]
        text = without_refs(bullet.text)
        if text.strip(" \t-*") and not is_untrusted(text) and is_grounded(text, source):
            kept.append(Bullet(bullet.position, bullet.labelled, text))
        elif bullet.position is None:
            dropped += 1
        else:
            replaced += 1
            if bullet.position not in given:
                given.add(bullet.position)
                kept += extractive_bullets(bullet.position, extractive(bullet.position))
    return Checked(kept, replaced, dropped)


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
    """A bullet with a label as the first thing on it."""
    stripped = text.lstrip()
    indent = text[: len(text) - len(stripped)]
    if stripped[:2] in ("- ", "* "):
        return f"{indent}{stripped[:2]}{mark} {stripped[2:].lstrip()}"
    return f"{indent}- {mark} {stripped}"


def texts_of(bullets: Sequence[Bullet], position: int) -> list[str]:
    """The bullets of one call."""
    return [bullet.text for bullet in bullets if bullet.position == position]
