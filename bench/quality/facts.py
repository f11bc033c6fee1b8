"""A fact that must stay visible, and when it counts as visible."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WORDS_OF_EXIT = r"(?:exit(?:ed|s)?|return(?:ed)?|status|code|returncode|rc)"


RECALLED = frozenset(("error", "exit", "totals", "location", "changed"))
"""The kinds that evaluation.md counts as fact recall."""


LABELS = {
    "hand": "facts",
    "held_out": "facts_held_out",
    "fresh": "facts_fresh",
    "dev": "facts_dev",
    "unseen": "facts_unseen",
}
"""The files of labels by hand, see `hand_labelled`."""


class Fact(NamedTuple):
    """`kind` is error, exit, totals, location, changed, path or content; `text` a literal, of these kinds special:

    exit: the number alone. location: ``file:line``.
    """

    kind: str
    text: str


class Place(NamedTuple):
    """A call in the transcripts: file, session in it, turn in that, call in that, all from 0."""

    file: str
    session: int
    turn: int
    call: int


def hand_labelled(name: str = "facts") -> dict[Place, list[Fact]]:
    """The facts that were written down by judgement from the raw outputs alone.

    `facts` was labelled before there was any summary to look at, and was there to see while the extractor was made.
    `facts_held_out` is from other calls and was labelled after that, so that no extractor could be fitted to it; later
    its misses were looked at and mended. `facts_fresh` was labelled then, from calls of neither, before the extractor
    was run on them; its misses were mended, too, and so were those of `facts_dev`. `facts_unseen` is from calls of
    none of these and was labelled by somebody who knew nothing of the extractor; what is missed of it was looked at
    only after the last change, so that its share says what other sessions can expect.
    """
    labelled: dict[Place, list[Fact]] = {}
    for line in (Path(__file__).parent / f"{name}.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            row = json.loads(line)
            place = Place(row["file"], row["session"], row["turn"], row["call"])
            labelled.setdefault(place, []).append(Fact(row["kind"], row["fact"]))
    return labelled


def plain(text: str) -> str:
    """Text without terminal escapes and control characters, all whitespace as single blanks."""
    return " ".join(_CONTROLS.sub(" ", _ESCAPES.sub("", text)).split())


def visible(fact: Fact, text: str) -> bool:
    """Whether a fact can be read off `text`, which is `plain` already.

    A literal must stand there as it is. An exit code must stand after a word that says what it is. Of a location
    the file's name and the line's number must both stand there: how they are joined differs between tools.
    """
    if fact.kind == "exit":
        near = rf"\b{_WORDS_OF_EXIT}\b(?:\W{{1,3}}[a-z]+){{0,2}}\W{{0,3}}(?<![\w.]){re.escape(fact.text)}(?![\w.]\d|\d)"
        return re.search(near, text, re.IGNORECASE) is not None
    if fact.kind == "location":
        file, _, line = fact.text.rpartition(":")
        name = file.rsplit("/", 1)[-1]
        return name in text and re.search(rf"(?<![\d.])0*{line}(?!\d)", text) is not None
    return plain(fact.text) in text


def count_visible(facts: Iterable[Fact], text: str) -> list[bool]:
    shown = plain(text)
    return [visible(fact, shown) for fact in facts]
