"""mini-swe-agent: one JSON document, whose messages hold one fenced bash block a reply, or tool calls."""

import re
from collections.abc import Iterator
from typing import Any

from afterturn.replay.importers.assembly import Assembly, SessionAssembly, say
from afterturn.replay.importers.fields import obj, objects, optional, parsed, prose, text
from afterturn.replay.json_members import members
from afterturn.replay.source import Source
from afterturn.replay.stream import Call, Event

HARNESS = "mini-swe-agent"
_MESSAGES = frozenset(("messages",))
_FENCE = "\n```"
_COMMAND = re.compile(rf"```bash\s*\n(.*?){_FENCE}", re.DOTALL)
_RETURN_CODE = re.compile(r"<returncode>(-?\d+)</returncode>")


def recognises(value: Any) -> bool:
    document = obj(value)
    named = text(document.get("trajectory_format")).startswith(HARNESS) or "mini_version" in obj(document.get("info"))
    return named or ("messages" in document and "submission" in obj(document.get("info")))


def read(source: Source) -> Iterator[Event]:
    """The session of one file, read twice: its name stands behind its messages."""
    source.plan(2)
    about: dict[str, Any] = {}
    for member in members(source, _MESSAGES, lambda _reason: None):
        if member.name == "instance_id":
            about["id"] = optional(member.value)
        elif member.name == "info":
            config = obj(obj(obj(member.value).get("config")).get("model"))
            about["model"] = optional(config.get("model_name"))
    assembly = Assembly(HARNESS, lambda: source.position)
    session = assembly.session(source.name(about.get("id") or HARNESS))
    session.start.title = about.get("id")
    session.start.model = about.get("model")
    reader = _Reader(session)
    for member in members(source, _MESSAGES, assembly.skip):
        if member.name == "messages":
            reader.take(obj(member.value))
            yield from assembly.ready()
    yield from assembly.finish()


class _Reader:
    """A reply whose number of bash blocks is not one was rejected by the harness and ran nothing: no call."""

    __slots__ = ("_asked", "_number", "_session")

    def __init__(self, session: SessionAssembly) -> None:
        self._session = session
        self._number = -1
        self._asked: str | None = None
        """The id of the call that the next message answers."""

    def take(self, message: dict[str, Any]) -> None:
        self._number += 1
        asked, self._asked = self._asked, None
        role = message.get("role")
        said = prose(message.get("content"))
        if role == "assistant":
            self._assistant(message, said)
        elif role == "tool":
            self._answer(text(message.get("tool_call_id")), said)
        elif asked is not None:
            self._answer(asked, said)
        elif role == "user":
            self._session.user(said)

    def _answer(self, call_id: str, said: str) -> None:
        code = _RETURN_CODE.match(said)
        self._session.result(call_id, said, is_error=code is not None and code[1] != "0", timestamp=None)

    def _assistant(self, message: dict[str, Any], said: str) -> None:
        turn = self._session.turn()
        declared = objects(message.get("tool_calls"))
        for each in declared:
            function = obj(each.get("function"))
            call = Call(text(each.get("id")), text(function.get("name")), parsed(function.get("arguments")))
            self._session.call(turn, call)
        # No block ends behind this; to look for an end there again and again takes time that grows with the square.
        end = 0 if declared else said.rfind(_FENCE) + len(_FENCE)
        say(turn, (_COMMAND.sub("", said[:end]) + said[end:]).strip())
        commands: list[str] = _COMMAND.findall(said, 0, end)
        if len(commands) == 1:
            self._asked = f"call-{self._number}"
            self._session.call(turn, Call(self._asked, "bash", {"command": commands[0]}))
