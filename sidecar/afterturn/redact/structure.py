"""Structures: redaction of a JSON value, where the key of a value is its name.

Beside `{"password": value}` this knows `{"name": "PASSWORD", "value": value}`, `{"password": {"value": value}}` and the
lists `["--password", value]` and `["curl", "-u", value]`.
"""

import itertools
import re
from collections.abc import Callable
from typing import Any, cast

from afterturn.redact import commands, headers, names
from afterturn.redact.span import MARKER, Span, marker, outside_markers
from afterturn.redact.values import Setting, is_secret

_MARKER = re.compile(MARKER)
_FLAG = re.compile(r"-[\w-]+")
# Where in a list of words, and in chars, the name of the command stands; `sudo` and the like may stand before it.
_COMMAND_WORDS = 4
_COMMAND_CHARS = 256
Redact = Callable[[str], tuple[str, dict[str, int]]]


def redact_structure(value: Any, redact: Redact) -> tuple[Any, dict[str, int]]:
    """A copy of the JSON value with every string redacted, keys too, and the counts by type."""
    return _Walk(redact).copy(value)


class _Walk:
    """One walk over a value, without recursion: a value may be nested as deep as it likes."""

    def __init__(self, redact: Redact) -> None:
        self.redact = redact
        self.counts: dict[str, int] = {}
        # The names seen so far without the secrets in them, and what those say that their values are.
        self.bare_names: dict[str, str] = {}
        self.kinds: dict[str, str | None] = {}
        # How many keys of one object became the same, by what they became.
        self.same: dict[str, int] = {}
        # What is still to copy: the value, the name it stands under, and where its copy goes.
        self.rest: list[tuple[Any, str, Any, Any]] = []

    def copy(self, value: Any) -> tuple[Any, dict[str, int]]:
        root: list[Any] = [None]
        self.rest.append((value, "", root, 0))
        while self.rest:
            item, name, into, at = self.rest.pop()
            if isinstance(item, dict):
                into[at] = self.object(cast("dict[Any, Any]", item), name)
            elif isinstance(item, (list, tuple)):
                into[at] = self.array(list(cast("list[Any]", item)), name)
            else:
                into[at] = self.leaf(item, name)
        return root[0], self.counts

    def object(self, item: dict[Any, Any], name: str) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        self.same = {}
        # `{"name": "DB_PASSWORD", "value": ...}`, as environments and headers are listed.
        label = next((item[key] for key in ("name", "key", "Name", "Key") if isinstance(item.get(key), str)), "")
        jar = name if self.kind(name) == names.COOKIE else ""
        for key, child in item.items():
            copied = self.key(key, result)
            result[copied] = None
            # `{"db_password": {"type": "string", "value": ...}}`, as Terraform prints outputs.
            own = (label or name) if key in ("value", "Value") else str(key)
            self.rest.append((child, jar or own, result, copied))
        return result

    def array(self, items: list[Any], name: str) -> list[Any]:
        result: list[Any] = [None] * len(items)
        is_command = not self.kind(name)
        flag = ""
        for index, child in enumerate(items):
            if isinstance(child, str):
                result[index] = self.leaf(child, flag or name)
                flag = child if is_command and _FLAG.fullmatch(child) else ""
            else:
                self.rest.append((child, flag or name, result, index))
                flag = ""
        return self.without_options(result) if is_command else result

    def without_options(self, items: list[Any]) -> list[Any]:
        """The words of a command without the secrets in its options: which those are shows only the whole command."""
        words = [item for item in items if isinstance(item, str)]
        head = " ".join(words[:_COMMAND_WORDS])[:_COMMAND_CHARS] + " "
        if len(words) < len(items) or not any(command.program.search(head) for command in commands.COMMANDS):
            return items
        line = " ".join(words)
        text, counts = self.redact(line)
        if text.count(" ") < line.count(" "):
            return items  # a secret with blanks in it, so that the words cannot be told apart any more
        self.add(counts)
        rest = iter(text.split(" "))
        return [" ".join(itertools.islice(rest, word.count(" ") + 1)) for word in words]

    def key(self, key: Any, taken: dict[Any, Any]) -> Any:
        if not isinstance(key, str):
            return key
        copied = base = self.text(key)
        while copied in taken:  # two keys that differ in their secret only
            self.same[base] = self.same.get(base, 1) + 1
            copied = f"{base} {self.same[base]}"
        return copied

    def leaf(self, item: Any, name: str) -> Any:
        kind = self.kind(name)
        if isinstance(item, bool) or not isinstance(item, (str, int)):
            return item
        if kind == names.COOKIE and isinstance(item, str):
            return self.cookie(item, name)
        if kind == names.AUTHORIZATION and isinstance(item, str):
            return self.header(item)
        # A key whose form is known says more than its name does.
        text, counts = self.redact(str(item))
        if kind and is_secret(text, Setting(type=kind, name=self.bare(name).strip("-"), quoted=True)):
            return self.replaced(kind)
        self.add(counts)
        return text if isinstance(item, str) else item

    def kind(self, name: str) -> str | None:
        """The type of secret that the name says, whatever secrets stand in the name itself."""
        if name not in self.kinds:
            self.kinds[name] = names.secret_type(self.bare(name))
        return self.kinds[name]

    def bare(self, name: str) -> str:
        """The name as it reads on a second pass, too."""
        if name not in self.bare_names:
            self.bare_names[name] = _MARKER.sub(" ", self.redact(name)[0])
        return self.bare_names[name]

    def header(self, value: str) -> str:
        # The form of a key says more than the header that it stands in.
        lead = '"":"'
        line = lead + self.text(value)
        span = headers.authorization(line, 2)
        return self.without(line, [span] if span else [])[len(lead) :]

    def cookie(self, value: str, name: str) -> str:
        text, counts = self.redact(value)
        # What has no `=` but at its end is a value without a name, in base64.
        if "=" not in text.rstrip("="):
            if is_secret(text, Setting(type=names.COOKIE, name=self.bare(name), quoted=True)):
                return self.replaced(names.COOKIE)
            spans: list[Span] = []
        else:
            spans, _ = headers.cookie_pairs(text, 0)
        self.add(counts)
        return self.without(text, spans)

    def without(self, value: str, spans: list[Span]) -> str:
        parts: list[str] = []
        at = 0
        for span in outside_markers(value, spans):
            parts += (value[at : span.start], marker(span.type))
            at = span.end
            self.count(span.type)
        return "".join(parts) + value[at:]

    def replaced(self, kind: str) -> str:
        self.count(kind)
        return marker(kind)

    def text(self, value: str) -> str:
        text, counts = self.redact(value)
        self.add(counts)
        return text

    def add(self, counts: dict[str, int]) -> None:
        for kind, count in counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + count

    def count(self, kind: str) -> None:
        self.add({kind: 1})
