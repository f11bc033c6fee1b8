"""The two readers of JSON below the importers: values one after another, and members of large documents."""

import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.replay import json_members, json_values, source
from afterturn.replay.heads import first_values
from afterturn.replay.json_members import members
from afterturn.replay.json_values import decoded_values, values
from afterturn.replay.source import Source
from tests.replay.importers.made import lines, pretty

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=4)
BIG = 12345678901234567890123


class Text(Source):
    """A source of a text that comes in chunks of some size."""

    def __init__(self, content: bytes, chunk: int = 1 << 20) -> None:
        self._content = content
        self._chunk = chunk

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        at = 0
        for line in io.BytesIO(self._content):
            yield at, line
            at += len(line)

    def text(self) -> Iterator[str]:
        text = self._content.decode("utf-8-sig", "replace")
        for at in range(0, len(text), self._chunk):
            yield text[at : at + self._chunk]


def read_values(content: str | bytes, tmp_path: Path) -> tuple[list[Any], dict[str, int]]:
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    skipped: Counter[str] = Counter()
    found = list(values(Source(path), lambda reason: skipped.update([reason])))
    raw = path.read_bytes()
    for item in found:
        assert item.value in decoded_values(raw[item.begin : item.begin + item.size])
    return [item.value for item in found], dict(skipped)


@pytest.mark.parametrize(
    ("content", "found", "skipped"),
    [
        ('{"a": 1}\n{"a": 2}', [{"a": 1}, {"a": 2}], {}),
        ('{"a": 1}{"a": 2} [3]\n', [{"a": 1}, {"a": 2}, [3]], {}),
        ('{\n  "a": 1\n}{\n  "a": 2\n}\n', [{"a": 1}, {"a": 2}], {}),
        ('\ufeff{\n  "a": 1\n}\n', [{"a": 1}], {}),
        ('{"a": 1}\n{"a": \n{"a": 3}\n', [{"a": 1}, {"a": 3}], {json_values.BROKEN: 1}),
        ('{\n  "a": 1,\n{\n  "a": 2\n}\n', [{"a": 2}], {json_values.BROKEN: 1}),
        ('{\n  "a": 1,\n{"a": 2}\n', [{"a": 2}], {json_values.BROKEN: 1}),
        ('{\n  "a": 1,\n', [], {json_values.BROKEN: 1}),
        ('{"a": 1}\n{"b', [{"a": 1}], {json_values.BROKEN: 1}),
        ('\x00\x00{"a": "\x00\t"}\x00\n', [{"a": "\x00\t"}], {}),
        ('{"a": "\\ud83d", "b": NaN}', [{"a": "\ud83d", "b": "NaN"}], {}),
        (f'{{"a": {BIG}}}', [{"a": BIG}], {}),
        ("9" * 5000 + "\n1\n", [1], {json_values.BROKEN: 1}),
        ("[" * 5000 + "]" * 5000 + "\n1\n", [1], {json_values.TOO_DEEP: 1}),
        (b'{"a": "\xed\xa0\xbd"}\n{"a": "\xff"}', [{"a": "\ud83d"}, {"a": "\ufffd"}], {}),
    ],
)
def test_values(tmp_path: Path, content: str | bytes, found: list[Any], skipped: dict[str, int]) -> None:
    assert read_values(content, tmp_path) == (found, skipped)


def test_values_that_are_too_long_are_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_LINE_BYTES", 100)
    monkeypatch.setattr(json_values, "MAX_LINE_BYTES", 100)
    long = {"a": ["x" * 40] * 9}
    expected = [{"a": 1}, {"a": 2}], {json_values.TOO_LONG: 1}
    assert read_values(lines({"a": 1}, long, {"a": 2}), tmp_path) == expected
    assert read_values(pretty({"a": 1}, long, {"a": 2}), tmp_path) == expected


@given(DOCUMENTS, st.sampled_from([None, 1, 2]))
def test_any_values_come_back(documents: list[Any], indent: int | None) -> None:
    content = "".join(json.dumps(each, indent=indent) + "\n" for each in documents).encode()
    assert [item.value for item in values(Text(content), pytest.fail)] == documents


def read_members(content: str, chunk: int, *arrays: str) -> tuple[list[Any], dict[str, int]]:
    skipped: Counter[str] = Counter()
    raw = content.encode("utf-8", "surrogatepass")
    found = members(Text(raw, chunk), frozenset(arrays), lambda reason: skipped.update([reason]))
    return [tuple(each) for each in found], dict(skipped)


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("content", "found", "skipped"),
    [
        ('{"a": [1, 22], "b": [3]}', [(0, "a", 1), (0, "a", 22), (0, "b", [3])], {}),
        ('[1, {"a": 2}]', [(0, "", 1), (0, "", {"a": 2})], {}),
        ('{"a": []}{}\n[]\n{"b": 1}', [(3, "b", 1)], {}),
        ('{"a": 7}\n{"a": [8]}', [(0, "a", 7), (1, "a", 8)], {}),
        ('{"a": "\\ud83d\\n", "b": -1.5e3}', [(0, "a", "\ud83d\n"), (0, "b", -1500.0)], {}),
        ('{"a": [1, tru, 3], "b": 4}', [(0, "a", 1), (0, "a", 3), (0, "b", 4)], {json_members.BROKEN: 1}),
        ('{"a": [1, {"x" 2}, 3], "b": 4}', [(0, "a", 1), (0, "a", 3), (0, "b", 4)], {json_members.BROKEN: 1}),
        ('{"a": tru, "b": 2}', [(0, "b", 2)], {json_members.BROKEN: 1}),
        ('{"a": [1, {"x": "}\\""', [(0, "a", 1)], {json_members.CUT_OFF: 1}),
        ('{"a": [1, {"x": "\n{"b": 2}', [(0, "a", 1), (1, "b", 2)], {json_members.BROKEN: 1}),
        ('{"a": 1\n{"b": 2}', [(0, "a", 1), (1, "b", 2)], {json_members.BROKEN: 1}),
        ('{"a": 1, \n{"b": 2}', [(0, "a", 1), (1, "b", 2)], {json_members.BROKEN: 1}),
        ('rubbish\n{"b": 2}', [(1, "b", 2)], {json_members.BROKEN: 1}),
        ('{"a": 1', [(0, "a", 1)], {json_members.CUT_OFF: 1}),
        ('{"a"', [], {json_members.CUT_OFF: 1}),
        (f'{{"a": {BIG}, "b": {"9" * 5000}}}', [(0, "a", BIG)], {json_members.BROKEN: 1}),
        (
            f'{{"a": [{"[" * 3000}"]"{"]" * 3000}, 2], "b": 3}}',
            [(0, "a", 2), (0, "b", 3)],
            {json_values.TOO_DEEP: 1},
        ),
    ],
)
def test_members(chunk: int, content: str, found: list[Any], skipped: dict[str, int]) -> None:
    assert read_members(content, chunk, "a") == (found, skipped)


@pytest.mark.parametrize("chunk", [5, 64])
def test_members_that_are_too_long_are_passed(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_members, "MAX_CHARS", 100)
    long = json.dumps(["x{\\" * 90, {"y": "]"}])
    found = [(0, "a", 1), (0, "a", 2), (0, "b", 3)]
    assert read_members(f'{{"a": [1, {long}, 2], "b": 3}}', chunk, "a") == (found, {json_members.TOO_LONG: 1})


@given(DOCUMENTS, st.sampled_from([None, 2]), st.integers(1, 9))
def test_any_members_come_back(documents: list[dict[str, Any]], indent: int | None, chunk: int) -> None:
    content = "".join(json.dumps(each, indent=indent) + "\n" for each in documents)
    found, skipped = read_members(content, chunk)
    assert skipped == {}
    assert found == [(n, name, value) for n, each in enumerate(documents) for name, value in each.items()]


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b'{"a": 1}\n{"b": [2, {"c": 3, "d', [{"a": 1}, {"b": [2, {"c": 3}]}]),
        (b'{"a": "cut', [{"a": None}]),
        (b'text\n\n  {"a": 1}', [{"a": 1}]),
        (b"[1, [2, [3, [4, [5, ", [[1, [2, [3, [4, None]]]]]),
        (b'{"a": \xff', [{"a": None}]),
        (b"", []),
    ],
)
def test_the_first_values_of_a_file_as_far_as_they_go(head: bytes, found: list[Any]) -> None:
    assert first_values(head) == found
