"""Structures: redaction of a JSON value, where the key of a value is its name.

Beside `{"password": value}` this knows `{"name": "PASSWORD", "value": value}` and the list `["--password", value]`.
"""

from collections.abc import Callable
from typing import Any, cast

from afterturn.redact import headers, names
from afterturn.redact.span import Span, marker
from afterturn.redact.values import Setting, is_secret

Redact = Callable[[str], tuple[str, dict[str, int]]]


def redact_structure(value: Any, redact: Redact) -> tuple[Any, dict[str, int]]:
    """A copy of the JSON value with every string redacted, keys too, and the counts by type."""
    return _Walk(redact).copy(value)


class _Walk:
    """One walk over a value, without recursion: a value may be nested as deep as it likes."""

    def __init__(self, redact: Redact) -> None:
        self.redact = redact
        self.counts: dict[str, int] = {}
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
        jar = name if names.secret_type(name) == names.COOKIE else ""
        for key, child in item.items():
            copied = self.key(key, result)
            result[copied] = None
            own = label if label and key in ("value", "Value") else str(key)
            self.rest.append((child, jar or own, result, copied))
        return result

    def array(self, items: list[Any], name: str) -> list[Any]:
        result: list[Any] = [None] * len(items)
        flag = ""
        for index, child in enumerate(items):
            self.rest.append((child, flag or name, result, index))
            flag = child if isinstance(child, str) and child.startswith("-") and "=" not in child else ""
        return result

    def key(self, key: Any, taken: dict[Any, Any]) -> Any:
        if not isinstance(key, str):
            return key
        copied = base = self.text(key)
        while copied in taken:  # two keys that differ in their secret only
            self.same[base] = self.same.get(base, 1) + 1
            copied = f"{base} {self.same[base]}"
        return copied

    def leaf(self, item: Any, name: str) -> Any:
        kind = names.secret_type(name) if name else None
        if isinstance(item, bool) or not isinstance(item, (str, int)):
            return item
        value = str(item)
        if kind == names.COOKIE and isinstance(item, str):
            return self.cookie(item, name)
        if kind == names.AUTHORIZATION and isinstance(item, str):
            return self.header(item)
        if kind and is_secret(value, Setting(type=kind, name=name.strip("-"), quoted=True)):
            return self.replaced(value, kind)
        return self.text(item) if isinstance(item, str) else item

    def header(self, value: str) -> str:
        # The form of a key says more than the header that it stands in.
        value = self.text(value)
        lead = '"":"'
        span = headers.authorization(lead + value, 2)
        return self.without(value, [span], len(lead)) if span else value

    def cookie(self, value: str, name: str) -> str:
        value = self.text(value)
        spans, _ = headers.cookie_pairs(value, 0)
        if spans:
            return self.without(value, spans)
        setting = Setting(type=names.COOKIE, name=name, quoted=True)
        return self.replaced(value, names.COOKIE) if is_secret(value, setting) else value

    def without(self, value: str, spans: list[Span], lead: int = 0) -> str:
        parts: list[str] = []
        at = 0
        for span in spans:
            parts += (value[at : span.start - lead], marker(span.type))
            at = span.end - lead
            self.count(span.type)
        return "".join(parts) + value[at:]

    def replaced(self, value: str, kind: str) -> str:
        # A key whose form is known says more than its name does.
        text, counts = self.redact(value)
        if len(counts) == 1 and text == marker(next(iter(counts))):
            kind = next(iter(counts))
        self.count(kind)
        return marker(kind)

    def text(self, value: str) -> str:
        text, counts = self.redact(value)
        for kind, count in counts.items():
            self.count(kind, count)
        return text

    def count(self, kind: str, count: int = 1) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + count
