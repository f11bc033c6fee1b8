"""A model that acts by the words of the request: no state, so that a rewritten context does not lead it astray."""

import itertools
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.hosts.pi.host import Home
from tests.hosts.pi.rpc import until
from tests.provider.answers import Answer
from tests.provider.server import ProviderRequest

RECOVERY_TOOL = "context_tree_query"

Call = tuple[str, dict[str, Any]]


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def is_of_agent(request: ProviderRequest) -> bool:
    """Whether pi's agent asks; what the sidecar asks through pi comes without tools."""
    return bool(request.body.get("tools"))


def act(request: ProviderRequest) -> Answer:
    """Carry out the last user message, which is "read 1 2 3", "recover t1" or anything else."""
    messages = request.body["messages"]
    last = max(at for at, message in enumerate(messages) if message["role"] == "user")
    done = sum(message["role"] == "assistant" for message in messages[last:])
    turns = list(_turns(text_of(messages[last])))
    if done < len(turns):
        ids = (f"call_{last}_{done}" + ("" if at == 0 else f"_{at}") for at in itertools.count())
        return tool_calls(dict(zip(ids, turns[done], strict=False)))
    return speech(f"Did all of: {text_of(messages[last])}")


def _turns(wish: str) -> Iterator[list[Call]]:
    """The calls of each turn; of a "race", the last of those that run at once is done first."""
    word, *rest = wish.split()
    if word == "read":
        yield from ([("read", {"path": f"notes-{number}.txt"})] for number in rest)
    if word == "race":
        waits = [f"sleep 0.{len(rest) - at}; cat notes-{number}.txt" for at, number in enumerate(rest)]
        yield [("bash", {"command": wait}) for wait in waits]
    if word == "recover":
        yield [(RECOVERY_TOOL, {"refs": rest})]
    if word == "run":
        yield [("bash", {"command": " ".join(rest)})]
    if word == "call":
        yield [(name, {}) for name in rest]


def sampled(request: ProviderRequest) -> Answer:
    """What a helpful model answers the sidecar: bullets under the labels of a prompt to condense, else a sentence."""
    prompt = "".join(text_of(message) for message in request.body["messages"])
    labels = dict.fromkeys(re.findall(r"^\[\[\d+:\w+\]\]", prompt, re.M))
    return speech("\n".join(f"- {label} Looked at the notes." for label in labels) or "The notes are being read.")


def helpful(request: ProviderRequest) -> Answer:
    return act(request) if is_of_agent(request) else sampled(request)


def unhurried(home: Home) -> Callable[[ProviderRequest], Answer]:
    """A model that, like a real one, takes longer to answer than the sidecar to start."""

    def answer(request: ProviderRequest) -> Answer:
        until(home.database.exists, "database of the sidecar")
        return helpful(request)

    return answer


def speech(text: str) -> Answer:
    return _stream([{"content": text}], "stop")


def tool_calls(calls: dict[str, Call]) -> Answer:
    """Calls of one turn, by their ids."""
    streamed = [
        {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(wanted)}}
        for index, (call_id, (name, wanted)) in enumerate(calls.items())
    ]
    return _stream([{"tool_calls": streamed}], "tool_calls")


def _stream(deltas: list[dict[str, Any]], finish: str) -> Answer:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "agent"}
    choices = [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    chunks: list[dict[str, Any]] = [{**head, "choices": [choice]} for choice in choices]
    chunks.append({**head, "choices": [], "usage": usage})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return Answer(raw=body.encode(), content_type="text/event-stream")
