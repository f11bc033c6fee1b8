"""OpenHands: evaluation output (history in each line), the export of the web app (one list), and SDK events."""

import json
from typing import Any

from afterturn.cli.transcript import Call, Session, SessionBuilder, Turn, epoch_ms, say

from . import jsonseq


def read_openhands(text: str) -> list[Session]:
    """The sessions of one file, whichever of the three forms it has."""
    values = list(jsonseq.values(text))
    if values and isinstance(values[0], list):
        return [_events("openhands", values[0])]
    if values and "history" in values[0]:
        return [_events(str(value.get("instance_id", "openhands")), value["history"]) for value in values]
    return [_sdk(values)]


def _events(session_id: str, events: list[dict[str, Any]]) -> Session:
    """Actions of the agent that came from a tool call, each answered by the observation that names it as its cause.

    `cause` and not `tool_call_id`, because the latter is numbered anew and repeats.
    """
    build = SessionBuilder(session_id)
    turns: dict[str, Turn] = {}
    calls: dict[int, Call] = {}
    for event in events:
        made_by = event.get("tool_call_metadata")
        if event.get("action") == "message":
            if event["source"] == "user":
                build.user(event["args"]["content"])
            else:
                say(build.turn(epoch_ms(event.get("timestamp")) or 0), event["args"]["content"])
        elif "action" in event and made_by:
            response = made_by["model_response"]
            turn = turns.get(response["id"])
            if turn is None:
                turn = turns[response["id"]] = build.turn(epoch_ms(event.get("timestamp")) or 0)
                say(turn, response["choices"][0]["message"].get("content") or "")
            calls[event["id"]] = _action(event, made_by)
            turn.calls.append(calls[event["id"]])
        elif made_by and event.get("cause") in calls:
            _observe(calls[event["cause"]], event)
        elif event.get("observation") == "error":
            build.session.orphan_results += 1
    return build.done()


def _action(event: dict[str, Any], made_by: dict[str, Any]) -> Call:
    message = made_by["model_response"]["choices"][0]["message"]
    for declared in message.get("tool_calls") or []:
        if declared["id"] == made_by["tool_call_id"]:
            return Call(declared["id"], declared["function"]["name"], _arguments(declared["function"]["arguments"]))
    return Call(made_by["tool_call_id"], made_by["function_name"], event["args"])


def _observe(call: Call, event: dict[str, Any]) -> None:
    metadata = (event.get("extras") or {}).get("metadata") or {}
    # The agent is shown the suffix, which says the exit code, with the output; -1 stands for "still running".
    call.result = f"{metadata.get('prefix') or ''}{event['content']}{metadata.get('suffix') or ''}"
    call.is_error = metadata.get("exit_code") not in (None, 0, -1) or event["content"].startswith("ERROR")
    call.result_timestamp = epoch_ms(event.get("timestamp"))


def _sdk(events: list[dict[str, Any]]) -> Session:
    build = SessionBuilder("openhands-sdk")
    turns: dict[str, Turn] = {}
    for event in events:
        stamp = epoch_ms(event.get("timestamp"))
        if event["kind"] == "MessageEvent" and event["source"] == "user":
            build.user("\n".join(part.get("text") or "" for part in event["llm_message"]["content"]))
        elif event["kind"] == "ActionEvent":
            response_id = event["llm_response_id"]
            turn = turns.get(response_id) or turns.setdefault(response_id, build.turn(stamp or 0))
            for part in event.get("thought") or []:
                say(turn, part.get("text") or "")
            arguments = _arguments(event["tool_call"]["arguments"])
            build.call(turn, Call(event["tool_call_id"], event["tool_name"], arguments))
        elif event["kind"] == "ObservationEvent":
            seen = event["observation"]
            text = "\n".join(part.get("text") or "" for part in seen["content"] if part["type"] == "text")
            metadata = seen.get("metadata") or {}
            text = f"{metadata.get('prefix') or ''}{text}{metadata.get('suffix') or ''}"
            failed = bool(seen.get("is_error")) or seen.get("exit_code") not in (None, 0)
            build.result(event["tool_call_id"], text, is_error=failed, timestamp=stamp)
        elif event["kind"] == "AgentErrorEvent":
            build.result(event["tool_call_id"], event["error"], is_error=True, timestamp=stamp)
    return build.done()


def _arguments(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
