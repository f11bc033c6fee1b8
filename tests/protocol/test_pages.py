"""The pages of spec/ and the types say the same: names, defaults, kinds, and every example frame."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from afterturn_protocol.errors import CODES, KINDS, ErrorObject
from afterturn_protocol.settings import CHOICES, Settings
from afterturn_protocol.table import EVENTS, METHODS, SERVER_REQUESTS, load

SPEC = Path(__file__).parents[2] / "spec"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(SPEC.glob("*.md"))}
PAGE_OF = {"session": "session.md", "condense": "condense.md", "recap": "recap.md", "capture": "capture.md"} | {
    "traces": "traces.md",
    "events": "events.md",
    "afterturn": "service.md",
    "sampling": "server-requests.md",
    "host": "server-requests.md",
}
FRAMES = [
    (name, json.loads(line))
    for name, text in PAGES.items()
    for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.parametrize("name", [*METHODS, *SERVER_REQUESTS])
def test_every_call_is_on_its_page(name: str) -> None:
    page = PAGES[PAGE_OF.get(name.partition("/")[0], "lifecycle.md")]
    assert re.search(rf"{re.escape(name)}(?![\w/])", page)


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_is_on_the_page_of_events(name: str) -> None:
    assert f"`{name}`" in PAGES["events.md"]


def test_the_page_of_errors_lists_codes_and_kinds() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (−\d+) \|", PAGES["errors.md"], re.MULTILINE)
    assert {kind: int(code.replace("−", "-")) for kind, code in rows} == {kind: KINDS[kind][0] for kind in KINDS}
    codes = re.findall(r"^\| (−\d+) \|", PAGES["errors.md"], re.MULTILINE)
    assert {int(code.replace("−", "-")) for code in codes} == set(CODES.values())


def test_the_page_of_settings_lists_keys_and_defaults() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| `(.*?)` \|(.*)", PAGES["settings.md"], re.MULTILINE)
    sent = json.loads(msgspec.json.encode(Settings()))
    defaults = {f"{section}.{key}": value for section, keys in sent.items() for key, value in keys.items()}
    assert {path: json.loads(default) for path, default, _ in rows} == defaults
    texts = {path: text for path, _, text in rows}
    for path, words in CHOICES.items():
        assert re.findall(r"`([\w-]+)`", texts[path].partition(" One of ")[2]) == list(words)


def test_links_lead_somewhere() -> None:
    for text in PAGES.values():
        for target in re.findall(r"\]\(([\w./-]+)\)", text):
            assert (SPEC / target).exists()


def test_every_conversation_is_on_a_page() -> None:
    patterns = [pattern for text in PAGES.values() for pattern in re.findall(r"`([\w*-]+\.jsonl)`", text)]
    found = {pattern: {path.name for path in SPEC.glob(f"conversations/{pattern}")} for pattern in patterns}
    assert [pattern for pattern, names in found.items() if not names] == []
    assert set().union(*found.values()) == {path.name for path in SPEC.glob("conversations/*.jsonl")}


def test_the_example_of_a_header_counts_right() -> None:
    match = re.search(r"Content-Length: (\d+)\\r\\n\n\\r\\n\n(.*)\n", PAGES["framing.md"])
    assert match
    assert int(match[1]) == len(match[2].encode())


def check_fits(value: Any, type_name: str) -> None:
    """Decodes, and names no field that the type does not have."""
    decoded = msgspec.convert(value, load(type_name))
    assert json.loads(json.dumps(msgspec.to_builtins(decoded))) == value


@pytest.mark.parametrize(("page", "frame"), FRAMES, ids=[f"{page}-{i}" for i, (page, _) in enumerate(FRAMES)])
def test_example_frames_are_messages_of_the_protocol(page: str, frame: dict[str, Any]) -> None:
    assert frame["jsonrpc"] == "2.0"
    if "method" in frame:
        entry = {**METHODS, **EVENTS, **SERVER_REQUESTS}[frame["method"]]
        if (page, frame.get("id")) not in REFUSED:
            check_fits(frame["params"], entry.params)
        return
    request = next(f for p, f in FRAMES if p == page and f.get("id") == frame["id"] and "method" in f)
    if "error" in frame:
        check_fits(frame["error"], "errors:ErrorObject")
        assert isinstance(msgspec.convert(frame["error"], ErrorObject).code, int)
    else:
        result = {**METHODS, **SERVER_REQUESTS}[request["method"]].result
        assert result is not None
        check_fits(frame["result"], result)


REFUSED = {("errors.md", 7), ("errors.md", 8)}
"""Requests that the page shows because they are wrong."""
