"""OpenHands: its three generations."""

import json
from typing import Any

import pytest

from tests.replay.importers.made import (
    MS,
    check,
    lines,
    openhands_action,
    openhands_events,
    openhands_seen,
    sessions_of,
    shape,
)

TURN = ("Fix", "Look.", [("toolu_01", "execute_bash", {"command": "ls"}, "no\n[exit code 1.]", True, 4)])


def row(name: str = "i1") -> dict[str, Any]:
    return {"instance_id": name, "metadata": {}, "history": openhands_events()}


def test_the_history_of_each_instance_is_a_session() -> None:
    check("openhands", lines(row(), row()), [TURN], [TURN])
    sessions = sessions_of(lines(row(), row(), row("i2")))
    assert [session.start.title for session in sessions if session.start] == ["i1", "i1", "i2"]
    assert len({session.session_id for session in sessions}) == 3
    assert [session.orphan_results for session in sessions] == [1, 1, 1]


def test_the_export_of_the_web_app() -> None:
    check("openhands", json.dumps(openhands_events()), [TURN])


def test_a_broken_instance_between_two() -> None:
    text = lines(row("i1")) + '{"instance_id": "i2", "history": [{"id": 1,\n' + lines(row("i3"))
    sessions = sessions_of(text)
    assert shape(sessions) == [[TURN], [TURN]]
    assert sum(sum(session.skipped.values()) for session in sessions) == 1


def ran(with_ids: bool) -> list[dict[str, Any]]:
    """What an agent did that calls no tools."""
    acts: list[dict[str, Any]] = [
        {"source": "user", "action": "message", "args": {"content": "Fix"}},
        {"source": "agent", "action": "run", "args": {"command": "ls", "thought": "Look."}},
        {"source": "agent", "observation": "run", "content": "a", "extras": {"metadata": {"exit_code": 0}}},
        {"source": "environment", "observation": "agent_state_changed", "content": ""},
        {"source": "agent", "action": "read", "args": {"path": "a"}},
        {"source": "agent", "observation": "error", "content": "no such file"},
    ]
    if with_ids:
        acts = [each | {"id": number} for number, each in enumerate(acts)]
        acts[2]["cause"], acts[5]["cause"] = 1, 4
    return acts


@pytest.mark.parametrize("with_ids", [False, True])
def test_agents_that_call_no_tools(with_ids: bool) -> None:
    turns = [
        ("Fix", "Look.", [("action-1", "run", {"command": "ls"}, "a", False, None)]),
        (None, None, [("action-2", "read", {"path": "a"}, "no such file", True, None)]),
    ]
    acts = ran(with_ids)
    check("openhands", json.dumps(acts), turns)
    check("openhands", lines({"instance_id": "i", "history": acts}), turns)


def test_the_oldest_histories_hold_pairs() -> None:
    acts = ran(with_ids=False)
    pairs = [[acts[0], acts[3]], [acts[1], acts[2]], [acts[4], acts[5]]]
    (session,) = sessions_of(json.dumps({"instance_id": "i", "history": pairs}))
    assert [call.result for call in session.calls] == ["a", "no such file"]


@pytest.mark.parametrize(("code", "failed"), [(None, False), (0, False), (1, True), (-1, False)])
def test_the_exit_codes_of_the_sdk(code: int | None, failed: bool) -> None:
    seen = openhands_seen("c1", "a")
    seen["observation"]["exit_code"] = code
    (session,) = sessions_of(lines(openhands_action("c1"), seen))
    assert [call.is_error for call in session.calls] == [failed]


def test_the_sdk() -> None:
    error = {"kind": "AgentErrorEvent", "source": "agent", "timestamp": 6, "tool_call_id": "c2", "error": "denied"}
    said = {"kind": "MessageEvent", "source": "user", "timestamp": 1}
    check(
        "openhands",
        lines(
            said | {"llm_message": {"role": "user", "content": [{"type": "text", "text": "Go"}]}},
            openhands_action("c1"),
            openhands_action("c2"),
            openhands_seen("c1", "a"),
            error,
            openhands_seen("c3", "whose?"),
        ),
        [
            (
                "Go",
                None,
                [
                    ("c1", "terminal", {"command": "ls"}, "a", False, 5),
                    ("c2", "terminal", {"command": "ls"}, "denied", True, 6),
                ],
            )
        ],
    )
    sdk = sessions_of(lines(openhands_action("c1"), openhands_seen("c3", "whose?")))[0]
    assert sdk.orphan_results == 1
    assert sdk.turns[0].timestamp == MS
