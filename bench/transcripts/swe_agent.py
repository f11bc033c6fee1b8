"""SWE-agent: one JSON file, a trajectory of thought, action and observation."""

import json
from typing import Any

from afterturn.cli.transcript import Call, Session, SessionBuilder, say

_OWN_COMMANDS = frozenset(
    ("create", "edit", "find_file", "goto", "insert", "open", "scroll_down", "scroll_up", "search_dir", "search_file")
)


def read_swe_agent(text: str) -> list[Session]:
    """The session of one file.

    With function calling the call's name, id and arguments stand in `history`; else the tool is the action's first
    word where that is one of the harness's own commands, and bash otherwise. Demonstrations are left out.
    """
    file = json.loads(text)
    history = [message for message in file["history"] if not message.get("is_demo")]
    build = SessionBuilder(file.get("environment") or "swe-agent")
    asked = next((message["content"] for message in history if message["role"] == "user"), "")
    build.user(asked if isinstance(asked, str) else "\n".join(part.get("text", "") for part in asked))
    declared = [call for message in history for call in message.get("tool_calls") or []]
    steps = file["trajectory"]
    for at, step in enumerate(steps):
        turn = build.turn()
        say(turn, step["thought"].strip())
        call = _declared(declared[at]) if len(declared) == len(steps) else _typed(step["action"], at)
        call.result = step["observation"]
        build.call(turn, call)
    return [build.done()]


def _declared(call: dict[str, Any]) -> Call:
    function = call["function"]
    arguments = function["arguments"]
    return Call(call["id"], function["name"], json.loads(arguments) if isinstance(arguments, str) else arguments)


def _typed(action: str, at: int) -> Call:
    words = action.split(maxsplit=1)
    name = words[0] if words and words[0] in _OWN_COMMANDS else "bash"
    return Call(f"step-{at}", name, {"command": action.rstrip("\n")})
