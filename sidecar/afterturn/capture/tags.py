"""Words that a trace can be found by, derived without a model (capture.md, 'Vectors, tags, signatures')."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from afterturn_protocol.traces import ToolCallDTO

MAX_TAGS = 8
_SHORTEST, _LONGEST = 3, 32
_SCANNED_CHARS = 20_000
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9+]+", re.ASCII)
_HOSTS = ("mcp", "tool", "tools", "functions", "default", "api", "unknown")
_ERROR_WORDS = ("error", "err", "exception", "code")
_TOPICS = {
    "docker": "docker dockerfile container containers",
    "kubernetes": "kubernetes kubectl k8s helm",
    "pip": "pip pip3 requirements.txt pyproject.toml",
    "npm": "npm pnpm yarn package.json",
    "sql": "sql sqlite sqlite3 postgres postgresql mysql",
    "git": "git commit rebase",
    "python": "python python3 .py",
    "typescript": "typescript .ts .tsx",
    "javascript": "javascript .js .jsx .mjs",
    "rust": "rust cargo .rs",
    "golang": "golang go.mod .go",
    "java": "java gradle maven .java",
    "shell": "bash zsh shell .sh",
    "network": "dns proxy socket http https",
    "auth": "oauth token login credential credentials password",
    "test": "pytest jest vitest unittest test tests",
    "error": "error errors exception traceback failed",
}
_TOPIC_OF = {word: topic for topic, words in _TOPICS.items() for word in words.split()}
_WHOLE_WORDS = frozenset(word for word in _TOPIC_OF if word[0] != ".")
_TEXT_WORD = re.compile(r"[a-z0-9_][a-z0-9_.]*", re.ASCII)
_TO_WORDS = bytes(
    ord(chr(code).lower()) if code < 128 and (chr(code).isalnum() or chr(code) in "_.") else ord(" ")
    for code in range(256)
)


def tags_of(calls: Sequence[ToolCallDTO], texts: Iterable[str]) -> list[str]:
    """At most 8 tags of 3 to 32 chars, `[a-z0-9][a-z0-9+]*`: tools first, then codes of errors, then subjects."""
    found: dict[str, None] = {}
    for call in calls:
        found.update(dict.fromkeys(_tool_words(call.name)))
    for call in calls:
        if call.error_code:
            words = (word for word in _words(call.error_code) if word not in _ERROR_WORDS)
            found.update(dict.fromkeys(words))
    if len(found) < MAX_TAGS:
        text = "\n".join(text[:_SCANNED_CHARS] for text in texts)
        found.update(dict.fromkeys(_subjects(text)))
    return list(found)[:MAX_TAGS]


@lru_cache(64)
def _tool_words(name: str) -> tuple[str, ...]:
    """What says most about a tool: its name without the host and the server that offer it, and that server."""
    parts = [part for part in re.split(r"__|[.:/]", name) if part]
    said = ([word for word in _words(part) if word not in _HOSTS] for part in reversed(parts))
    return tuple(words[0] for words in said if words)


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if _SHORTEST <= len(word) <= _LONGEST and word[0] != "+" and not word.isdigit():
            yield word.lower()


def _subjects(text: str) -> list[str]:
    """What a text is about, in the order of the list above."""
    words = set(_text_words(text))
    found = {_TOPIC_OF[word] for word in words & _WHOLE_WORDS}
    if "." in text:
        for written in words:
            if "." in written:
                word = written.strip(".")
                topic = _TOPIC_OF.get(word) or _TOPIC_OF.get(word[word.rfind(".") :])
                if topic:
                    found.add(topic)
    if "SELECT " in text:
        found.add("sql")
    return [topic for topic in _TOPICS if topic in found] if found else []


def _text_words(text: str) -> list[str]:
    """The words of a text, small; some begin with a dot that is no part of them."""
    if not text.isascii():
        return _TEXT_WORD.findall(text.lower())
    # The same much quicker; bytes, since the translation of a text looks up every char anew.
    return text.encode().translate(_TO_WORDS).decode().split()
