"""Kimi CLI: JSON lines of its wire log."""

from typing import Any

from afterturn.cli.transcript import Call, Session, SessionBuilder, Turn, say

from . import jsonseq


def read_kimi_cli(text: str) -> list[Session]:
    """The session of one file (sub-agents have files of their own). A turn is one `step`."""
    build = SessionBuilder("kimi-cli")
    steps: dict[str, Turn] = {}
    for line in jsonseq.values(text):
        if line["type"] == "context.append_message" and line["message"]["role"] == "user":
            build.user("\n".join(part.get("text") or "" for part in line["message"]["content"]))
        elif line["type"] == "context.append_loop_event":
            _event(build, steps, line["event"], line["time"])
    return [build.done()]


def _event(build: SessionBuilder, steps: dict[str, Turn], event: dict[str, Any], time: int) -> None:
    kind = event["type"]
    if kind == "step.begin":
        steps[f"{event['turnId']}.{event['step']}"] = build.turn(time)
    elif kind == "content.part" and event["part"]["type"] == "text":
        say(steps[f"{event['turnId']}.{event['step']}"], event["part"]["text"])
    elif kind == "tool.call":
        turn = steps[f"{event['turnId']}.{event['step']}"]
        build.call(turn, Call(event["toolCallId"], event["name"], event["args"]))
    elif kind == "tool.result":
        result = event["result"]
        build.result(
            event["toolCallId"], result.get("output") or "", is_error=bool(result.get("isError")), timestamp=time
        )
