"""From a model's reply to the recap that is shown (recap.md, 'Output')."""

import re
from functools import cache

from afterturn.recap.grounding import grounded_text
from afterturn.recap.input import RecapInput
from afterturn.recap.sanitising import sanitise, visible
from afterturn.recap.sentences import closed, cut_sentences
from afterturn.replies import unfenced, without_thinking
from afterturn.text import one_line

_READ = 4000


def is_clean_stop(stop_reason: str) -> bool:
    """Whether the model ended its answer itself."""
    return stop_reason == "stop"


def check_answer(text: str, stop_reason: str, recap_input: RecapInput, max_chars: int) -> str | None:
    """The recap in at most `max_chars` chars: white space collapsed, and only sentences that the input bears out.

    None without a clean stop, or when nothing is left: then the facts are shown.
    """
    if not is_clean_stop(stop_reason):
        return None
    checked = grounded_text(_plain(sanitise(without_thinking(text[:_READ]))), recap_input.evidence)
    # A sentence that is gone may bring a mark to the front, or two others together. Every round takes something away.
    while (again := grounded_text(_plain(checked), recap_input.evidence)) != checked:
        checked = again
    return closed(cut_sentences(checked, max_chars).strip()) or None


def kept_recap(text: str, max_chars: int) -> str:
    """A recap that the host kept, as every recap is shown: one line of at most `max_chars` chars, nothing hidden in it.

    Its file may be another program's, or anybody's. "" where nothing is left.
    """
    return closed(cut_sentences(one_line(visible(text[: _READ + max_chars])), max_chars))


def _plain(text: str) -> str:
    lines = unfenced(text.strip()).split("\n")
    lines = [line for line in lines if _heading().match(line) is None] or lines
    lines = [_marker().sub("", line) for line in lines]
    bare = one_line(" ".join(lines)).replace("**", "")
    bare = _label().sub("", _tags().sub("", bare)).strip()
    return bare[1:-1] if len(bare) > 2 and bare[0] == bare[-1] == '"' and bare.count('"') == 2 else bare


@cache
def _heading() -> re.Pattern[str]:
    """A line that is no sentence, where there are others: a heading, a row of a table."""
    return re.compile(r"^\s*(?:#{1,6}\s|\|)")


@cache
def _marker() -> re.Pattern[str]:
    return re.compile(r"^\s*(?:[-*\u2022]\s+|\d{1,2}[.)]\s+|#{1,6}\s+)")


@cache
def _tags() -> re.Pattern[str]:
    return re.compile(r"</?(?:recap|summary|answer|output|text)>", re.IGNORECASE)


@cache
def _label() -> re.Pattern[str]:
    return re.compile(
        r"^\s*(?:(?:sure|certainly|of course|okay|ok)[!,.]*\s+)?"
        r"(?:here(?:'s|\u2019s| is)[^.:]{0,40}\b(?:recap|summary)\b[^.:]{0,40}|recap|summary|\u6458\u8981|\u603b\u7ed3)"
        r"\s*[:\uff1a]\s*",
        re.IGNORECASE,
    )
