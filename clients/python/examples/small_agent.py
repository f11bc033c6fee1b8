"""A small agent with afterturn beside it: what its tools printed shrinks to bullets once the model has read it, and the
model can call any of it back. About thirty lines of it are afterturn's: `recall`, `condense`, and the last two.

    OPENAI_BASE=http://127.0.0.1:8080/v1 MODEL=any python small_agent.py "why does make fail?"
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from typing import Any

from afterturn_client import AfterturnError
from afterturn_client.sync import Afterturn
from afterturn_protocol.condense import Batch, SummarizeParams, ToolCall
from afterturn_protocol.refs import ResolveRefParams

SESSION = f"small-agent-{os.getpid()}"
BASH = {"type": "object", "properties": {"command": {"type": "string"}}}
REFS = {"type": "object", "properties": {"refs": {"type": "array", "items": {"type": "string"}}}}
TOOLS = [
    {"type": "function", "function": {"name": "bash", "parameters": BASH}},
    {"type": "function", "function": {"name": "context_tree_query", "parameters": REFS}},
]


def recall(client: Afterturn, refs: list[str]) -> str:
    try:
        found = client.condense.resolve_ref(ResolveRefParams(session_id=SESSION, refs=refs))
    except AfterturnError as problem:
        return str(problem)
    return "\n".join([each.text for each in found.records] + [f"{each.ref}: {each.reason}" for each in found.missing])


def condense(client: Afterturn, turn: int, calls: list[ToolCall], messages: list[dict[str, Any]]) -> None:
    batch = Batch(turn_index=turn, timestamp=int(time.time() * 1000), tool_calls=calls)
    try:
        result = client.condense.summarize(SummarizeParams(session_id=SESSION, batch=batch))
    except AfterturnError:
        return  # the agent goes on with what it has
    shorter = {item.tool_call_id: item.replacement for item in result.items if item.replacement}
    for message in messages:
        if text := shorter.get(message.get("tool_call_id", "")):
            message["content"] = text


def agent(client: Afterturn, question: str) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    calls: list[ToolCall] = []
    for turn in range(50):
        message = ask(messages)
        condense(client, turn, calls, messages)  # the model has read what these calls returned
        messages.append(message)
        calls = []
        tool_calls: list[Any] = message.get("tool_calls") or []
        for each in tool_calls:
            name, args = each["function"]["name"], json.loads(each["function"]["arguments"])
            text = recall(client, args["refs"]) if name == "context_tree_query" else run(args["command"])
            messages.append({"role": "tool", "tool_call_id": each["id"], "content": text})
            calls.append(ToolCall(tool_call_id=each["id"], tool_name=name, args=args, result_text=text))
        if not calls:
            return message["content"]
    return "I came to no end."


def run(command: str) -> str:
    return subprocess.run(f"({command}) 2>&1", shell=True, text=True, stdout=subprocess.PIPE, check=False).stdout


def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
    body = json.dumps({"model": os.environ["MODEL"], "messages": messages, "tools": TOOLS}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '-')}"}
    request = urllib.request.Request(f"{os.environ['OPENAI_BASE']}/chat/completions", body, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]


if __name__ == "__main__":
    with Afterturn.start() as client:
        print(agent(client, sys.argv[1]))
