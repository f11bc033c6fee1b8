"""A small agent: a model that may run commands in a shell. `with_afterturn.py` beside it gives it afterturn.

OPENAI_BASE=http://127.0.0.1:8080/v1 MODEL=any python small_agent.py "why does make fail?"
"""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
Step = tuple[Any, Message]
"""A call of the model's, and the message with its result."""

Tool = tuple[str, Callable[[Any], str]]
"""The name of its one parameter, and what it does with that."""


def bash(command: str) -> str:
    return subprocess.run(f"({command}) 2>&1", shell=True, text=True, stdout=subprocess.PIPE, check=False).stdout


TOOLS: dict[str, Tool] = {"bash": ("command", bash)}


def agent(question: str, tools: dict[str, Tool] = TOOLS, seen: Callable[[list[Step]], None] | None = None) -> str:
    """The answer to a question. seen: called with the steps whose results the model has just read."""
    messages: list[Message] = [{"role": "user", "content": question}]
    steps: list[Step] = []
    for _ in range(50):
        reply = ask(messages, tools)
        if seen:
            seen(steps)
        calls: list[Any] = reply.get("tool_calls") or []
        steps = [(call, do(call, tools)) for call in calls]
        messages += [reply, *(message for _, message in steps)]
        if not steps:
            return reply["content"]
    return "I came to no end."


def do(call: Any, tools: dict[str, Tool]) -> Message:
    parameter, run = tools[call["function"]["name"]]
    text = run(json.loads(call["function"]["arguments"])[parameter])
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


def ask(messages: list[Message], tools: dict[str, Tool]) -> Message:
    functions = [{"name": name, "parameters": {"type": "object"}} for name in tools]
    listed = [{"type": "function", "function": function} for function in functions]
    body = json.dumps({"model": os.environ["MODEL"], "messages": messages, "tools": listed}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '-')}"}
    request = urllib.request.Request(f"{os.environ['OPENAI_BASE']}/chat/completions", body, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]


if __name__ == "__main__":
    print(agent(sys.argv[1]))
