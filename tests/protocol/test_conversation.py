"""The runner of the scripted conversations: its patterns, and that it fails when it should."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conversation import MATCHERS, TYPES, ConversationError, fill, mismatch, run_conversation

SCRIPTS = sorted((Path(__file__).parents[2] / "spec" / "conversations").glob("*.jsonl"))
STEPS = {
    "start": dict,
    "send": dict,
    "sendTogether": list,
    "sendBody": str,
    "sendBodyBase64": str,
    "sendRaw": str,
    "sendBase64": str,
    "expect": dict,
    "expectAll": list,
    "close": str,
    "signal": str,
    "kill": bool,
    "expectExit": int,
}

FITS: list[tuple[Any, Any]] = [
    (1, 1),
    (1, 1.0),
    ("a", "a"),
    ("\ud83d", "\ud83d"),
    (None, None),
    (True, True),
    ([], []),
    ([1, {"a": 2}], [1, {"a": 2, "b": 3}]),
    ({}, {}),
    ({}, {"a": 1}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": {"b": []}}, {"a": {"b": [], "c": 0}}),
    ({"$any": "string"}, ""),
    ({"$any": "integer"}, 0),
    ({"$any": "number"}, 0.5),
    ({"$any": "number"}, 3),
    ({"$any": "boolean"}, False),
    ({"$any": "object"}, {}),
    ({"$any": "array"}, []),
    ({"$any": "null"}, None),
    ({"$any": "any"}, None),
    ({"a": {"$bind": "x"}}, {"a": None}),
    ([{"$bind": "x"}, {"$use": "x"}], ["t1", "t1"]),
    ({"$exact": {"a": {"$any": "any"}}}, {"a": 1}),
    ({"$exact": {}}, {}),
    ({"a": {"$absent": True}}, {}),
    ({"$exact": {"a": {"$absent": True}}}, {}),
    ({"$contains": "b"}, "abc"),
    ({"$contains": ""}, ""),
    ({"$contains": {"a": 1}}, [0, {"a": 1, "b": 2}]),
    ({"$contains": {"$repeat": ["ab", 2]}}, "xababx"),
    ({"$oneOf": [1, {"$any": "string"}]}, "x"),
    ({"$repeat": ["ab", 3]}, "ababab"),
    ({"$repeat": ["ab", 0]}, ""),
    ({"$other": 1, "a": 2}, {"$other": 1, "a": 2}),
    ({"$other": 1}, {"$other": 1}),
]

DIFFERS: list[tuple[Any, Any]] = [
    (1, 2),
    (1, "1"),
    (1, True),
    (True, 1),
    (0, False),
    (None, False),
    ("a", "A"),
    ("\ud83d", "\ufffd"),
    ([1], [1, 2]),
    ([1, 2], [1]),
    ([1, 2], [2, 1]),
    ([], {}),
    ({}, []),
    ({"a": None}, {}),
    ({"a": {"b": 1}}, {"a": {"b": 2}}),
    ({"a": 1}, None),
    ({"$any": "string"}, None),
    ({"$any": "integer"}, True),
    ({"$any": "integer"}, 1.5),
    ({"$any": "number"}, True),
    ({"$any": "object"}, []),
    ([{"$bind": "x"}, {"$use": "x"}], ["t1", "t2"]),
    ({"$exact": {"a": 1}}, {"a": 1, "b": 2}),
    ({"$exact": {"a": 1}}, {}),
    ({"$exact": {}}, []),
    ({"a": {"$absent": True}}, {"a": None}),
    ({"$contains": "d"}, "abc"),
    ({"$contains": "1"}, 123),
    ({"$contains": {"a": 1}}, [{"a": 2}]),
    ({"$oneOf": [1, 2]}, 3),
    ({"$oneOf": []}, None),
    ({"$repeat": ["ab", 3]}, "abab"),
]


@pytest.mark.parametrize(("pattern", "value"), FITS)
def test_fits(pattern: Any, value: Any) -> None:
    assert mismatch(pattern, value, {}) is None


@pytest.mark.parametrize(("pattern", "value"), DIFFERS)
def test_differs(pattern: Any, value: Any) -> None:
    assert mismatch(pattern, value, {}) is not None


def test_a_mismatch_names_its_place() -> None:
    text = mismatch({"result": {"items": [{"state": "condensed"}]}}, {"result": {"items": [{"state": "x"}]}}, {})
    assert text == '$.result.items[0].state: expected "condensed", got "x"'


def test_what_is_bound_can_be_sent() -> None:
    bound: dict[str, Any] = {}
    assert mismatch({"refs": [{"shortId": {"$bind": "ref"}}]}, {"refs": [{"shortId": "t7"}]}, bound) is None
    assert fill({"refs": [{"$use": "ref"}], "text": {"$repeat": ["x", 3]}}, bound) == {"refs": ["t7"], "text": "xxx"}


def test_an_alternative_that_does_not_fit_binds_nothing() -> None:
    bound: dict[str, Any] = {}
    assert mismatch({"$oneOf": [[{"$bind": "x"}, 2], [1, {"$bind": "y"}]]}, [1, 3], bound) is None
    assert bound == {"y": 3}


# -- against a process that is told what to do by what it is sent --------------------------------------------------

PUPPET = r"""
import json, sys
inp, out = sys.stdin.buffer, sys.stdout.buffer
lines = "--framing=ndjson" in sys.argv
def read():
    if lines:
        return inp.readline()
    length = 0
    while (header := inp.readline()).strip():
        length = int(header.split(b":")[1])
    return inp.read(length) if header else b""
while body := read():
    for order in json.loads(body)["params"]:
        if order == "exit":
            sys.exit(3)
        if isinstance(order, str):
            out.write(order.encode())
        else:
            data = json.dumps(order).encode()
            out.write(data + b"\n" if lines else b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
    out.flush()
"""


def play(*steps: Any) -> None:
    def start(args: list[str]) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-I", "-S", "-c", PUPPET, *args]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    run_conversation([json.dumps(step) for step in steps], start)


def order(*replies: Any) -> dict[str, Any]:
    return {"send": {"params": [{"jsonrpc": "2.0", **r} if isinstance(r, dict) else r for r in replies]}}


START = {"start": {}}
END = [{"close": "stdin"}, {"expectExit": 0}]


@pytest.mark.parametrize("args", [[], ["--framing=ndjson"]], ids=["content-length", "ndjson"])
def test_a_conversation_that_goes_well(args: list[str]) -> None:
    play(
        {"note": "says hello"},
        {"start": {"args": args}},
        order({"id": 1, "result": {"ref": "t7"}}, {"id": 3, "x": "\ud83d"}, {"id": 2}),
        {"expect": {"id": 1, "result": {"ref": {"$bind": "ref"}}}, "note": "remembers"},
        {"expectAll": [{"id": 2}, {"id": 3, "x": "\ud83d"}]},
        {"send": {"params": [{"jsonrpc": "2.0", "id": 4, "ref": {"$use": "ref"}}, "exit"]}},
        {"expect": {"id": 4, "ref": "t7"}},
        {"expectExit": 3},
        {"start": {"args": args}},
        {"sendTogether": [{"params": []}, {"params": [{"jsonrpc": "2.0", "id": 5}]}]},
        {"expect": {"id": 5}},
        {"kill": True},
        {"start": {"args": args}},
        *END,
    )


def test_bytes_that_are_framed_by_hand() -> None:
    body = '{"params": ["exit"]}'
    play(START, {"sendRaw": f"Content-Length: {len(body)}\r\n\r\n{body}"}, {"expectExit": 3})
    play(START, {"sendBody": body}, {"expectExit": 3})
    play(START, {"sendBodyBase64": "eyJwYXJhbXMiOiBbImV4aXQiXX0="}, {"expectExit": 3})
    play(START, {"sendBase64": "Q29udGVudC1MZW5ndGg6IDIwDQoNCnsicGFyYW1zIjogWyJleGl0Il19"}, {"expectExit": 3})


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        ([START, order({"id": 1}), {"expect": {"id": 2}}], "line 3: .*expected 2, got 1"),
        ([START, order({"id": 1}), *END], "line 4: a message that no step expects"),
        ([START, order({"id": 1}, {"id": 1}), {"expectAll": [{"id": 1}, {"id": 2}]}], "line 3: .*expected 2, got 1"),
        ([START, order("exit"), {"expect": {"id": 1}}], "line 3: the process closed its output"),
        ([START, order("exit"), {"expectExit": 0}], "line 3: exit code 3, expected 0"),
        ([START, {"close": "stdin"}, {"expect": {}}], "line 3: the process closed its output"),
        ([START, order("stray: print\n\n"), {"expect": {}}], "line 3: not JSON"),
        ([START, {"send": {"params": [{"jsonrpc": "1.0"}]}}, {"expect": {}}], "line 3: not a JSON-RPC message"),
        ([START], "line 1: the script ends without"),
        ([START, START], "line 2: start while the process runs"),
        ([{"expect": {}}], "line 1: expect before start"),
        ([START, {"sing": "a song"}], "line 2: unknown step sing"),
        ([START, {"sendMoney": 5}], "line 2: unknown step sendMoney"),
    ],
)
def test_a_conversation_that_does_not(steps: list[Any], complaint: str) -> None:
    with pytest.raises(ConversationError, match=complaint):
        play(*steps)


# -- the scripts themselves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_well_formed(path: Path) -> None:
    steps = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for step in steps:
        names = set(step) - {"note", "req"}
        assert len(names) <= 1
        for name in names:
            assert isinstance(step[name], STEPS[name])
            check_matchers(step[name])
    assert set(steps[0]) == {"note", "req"}, "the first line says what the script is about"
    assert set(steps[-1]) & {"expectExit", "kill"}


def check_matchers(value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            check_matchers(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key.startswith("$"):
                assert list(value) == [key]
                assert key in MATCHERS or value == {"$absent": True}
                assert key != "$any" or item in TYPES
            check_matchers(item)
