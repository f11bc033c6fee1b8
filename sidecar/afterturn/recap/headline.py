"""What a request asks for, in its own words and in one line."""

import re
from functools import cache

from afterturn.recap.requests import own_words, without_block
from afterturn.recap.sentences import content_words, cut_sentences
from afterturn.text import one_line

_READ = 12_000
_MAX_LINES = 12
# Where a long request states its matter, the most telling first.
_SECTIONS = ("issue_description", "pr_description", "user_query", "user_request", "task", "question", "issue")
_BACKGROUND = ("context", "system", "system_instruction", "git-context", "instructions", "rules")


def headline(text: str, limit: int) -> str:
    """The matter of a request in at most `limit` chars: without harness text, lead-ins, code and pasted output.

    "" where there is nothing but blanks.
    """
    text = _unescaped(own_words(text)[:_READ])
    for name in _BACKGROUND:
        shorter = without_block(text, f"<{name}", f"</{name}>").strip()
        text = shorter or text
    lines = _lines(_section(text))
    picked: list[str] = []
    length = 0
    for line in lines[:_MAX_LINES]:
        picked.append(line)
        length += len(line) + 1
        # What is said in fields, such as "Project: x", is told by several of them.
        if length >= limit or (length > 40 and line[-1] not in ",:\uff1a\uff0c" and _field().match(line) is None):
            break
    said = _image().sub(r"\g<before>[image]", one_line(_as_prose(picked)) or one_line(text))
    said = _far_folders().sub("\u2026/", said)
    return cut_sentences(said, limit).rstrip(" ;,:").removesuffix(":\u2026")


def is_telling(text: str) -> bool:
    """Whether a request says by itself what it is about, unlike "ok", "continue" or a bare command."""
    said = headline(text, 300)
    if (said.startswith("/") and " " not in said) or ("[image]" in said and len(content_words(said)) < 4):
        return False
    return len(content_words(said)) >= 3 or any(
        ("/" in part[1:] or "." in part[1:-1]) and len(part) > 6 for part in said.split()
    )


def _as_prose(lines: list[str]) -> str:
    """Lines as one; a title and the sentence below it stay two sentences."""
    text = ""
    for line in lines:
        title = text and text[-1].isalnum() and text.isascii() and line[0].isupper()
        text += f"{'.' if title else ''} {line}"
    return text


def _section(text: str) -> str:
    for name in _SECTIONS:
        start = text.find(f"<{name}>")
        end = text.find(f"</{name}>", start)
        # A tag in running text is talked about.
        if start >= 0 and end > start and not text[:start].rpartition("\n")[2].strip():
            inner = text[start + len(name) + 2 : end].strip()
            if inner:
                return inner
    found = _issue().search(text)
    return text[found.end() :] if found is not None and text[found.end() :].strip() else text


def _lines(text: str) -> list[str]:
    lines: list[str] = []
    fenced = False
    for raw in text.split("\n")[:200]:
        line = raw.strip()
        if line.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        line = _marker().sub("", line).strip("*_ ").strip()
        if fenced or not any(char.isalnum() for char in line):
            continue
        if _lead_in().match(line) is not None or _data().match(line) is not None:
            continue
        lines.append(line)
    return lines


def _unescaped(text: str) -> str:
    """A text that some tool wrote as a JSON string, as it was meant."""
    if text.count("\\n") < 3 or "\n" in text.strip()[:2000]:
        return text
    for _ in range(2):
        text = text.replace("\\\\", "\\").replace("\\n", "\n").replace('\\"', '"')
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text).strip('"\n ')


@cache
def _field() -> re.Pattern[str]:
    return re.compile(r"[A-Z][\w ]{1,24}: \S.{0,60}$")


@cache
def _issue() -> re.Pattern[str]:
    return re.compile(r"^(?:ISSUE|TASK|GOAL|PROBLEM|The description is):\s*$|The description is:\s*\n", re.MULTILINE)


@cache
def _data() -> re.Pattern[str]:
    """A line of JSON, as reports paste it in."""
    return re.compile(r"[{}\[\]\"]|\w+: [{\[]$")


@cache
def _image() -> re.Pattern[str]:
    """An image's path. It begins at the first slash of a word, so that a word with many slashes is tried once."""
    return re.compile(
        r"(?:'(?=/)|(?<![^\s'])(?P<before>[^\s'/]*))/[^\s']+/[^'/\n]{1,80}\.(?:png|jpe?g|gif|webp)\b'?", re.IGNORECASE
    )


@cache
def _far_folders() -> re.Pattern[str]:
    return re.compile(r"(?<![\w.:/])(?:/[\w.@+~-]+){3,}/")


@cache
def _marker() -> re.Pattern[str]:
    return re.compile(r"^(?:[#>*+\u2022-]+\s+|\d{1,2}[.)]\s+|\d \u2022 )+|^</?[a-z_-]{1,40}>|</?[a-z_-]{1,40}>$")


@cache
def _lead_in() -> re.Pattern[str]:
    return re.compile(
        r"(?:we're currently solving|we are currently solving|i've uploaded|i have uploaded|consider the following"
        r"|here(?:'s| is) the issue|your current working|issue:|description$|context$|task$|goal$|overview$|summary$"
        r"|\(last modified"
        r"|agents\.md instructions|(?:critical )?requirements?:?$|hi(?: there| all)?[!.,]*$|hello[!.,]*$|hey[!.,]*$)",
        re.IGNORECASE,
    )
