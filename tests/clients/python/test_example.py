"""The small agent with afterturn, and a scripted model: bullets reach the next request, and a ref brings all back."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.provider.answers import Answer, says
from tests.provider.server import ScriptedProvider

EXAMPLE = Path(__file__).parents[3] / "clients" / "python" / "examples" / "with_afterturn.py"
COMMAND = "seq 1 2000; echo 'src/auth/jwt.ts:142 - error TS2345'"
OUTPUT = "".join(f"{n}\n" for n in range(1, 2001)) + "src/auth/jwt.ts:142 - error TS2345\n"


def calls(id: str, name: str, arguments: dict[str, Any]) -> Answer:
    function = {"name": name, "arguments": json.dumps(arguments)}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id, "type": "function", "function": function}],
    }
    return Answer(
        raw=json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()
    )


def ask_agent(provider: ScriptedProvider, **env: str) -> str:
    full_env = {**os.environ, "OPENAI_BASE": provider.openai_base, "MODEL": "any", **env}
    command = [sys.executable, str(EXAMPLE), "why does the build fail?"]
    return subprocess.run(command, env=full_env, capture_output=True, text=True, timeout=60, check=True).stdout


def test_the_agent_reads_once_and_calls_back() -> None:
    with ScriptedProvider() as provider:
        provider.script(
            calls("c1", "bash", {"command": COMMAND}),
            calls("c2", "context_tree_query", {"refs": ["t1", "t9"]}),
            calls("c3", "bash", {"command": "true"}),
            says("A type error in jwt.ts."),
        )
        assert ask_agent(provider) == "A type error in jwt.ts.\n"
        sent = [request.body["messages"] for request in provider.requests]
    assert sent[1][2]["content"] == OUTPUT, "the model reads it whole, once"
    shorter = sent[2][2]["content"]
    assert len(shorter) < 1000
    assert re.search(r"`t1`.*TS2345", shorter, re.DOTALL)
    assert sent[2][4]["content"] == f"{OUTPUT}\nt9: unknown", "the original came back"
    assert sent[3][2]["content"] == shorter, "frozen: the prompt cache stays good"


def test_without_a_sidecar_the_agent_says_so_at_once() -> None:
    """Starting is the one thing the example does not shrug off: a wrong installation should be seen."""
    with ScriptedProvider() as provider:
        command = [sys.executable, str(EXAMPLE), "?"]
        env = {
            **os.environ,
            "AFTERTURN_PATH": "/no/such/afterturn",
            "OPENAI_BASE": provider.openai_base,
            "MODEL": "any",
        }
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert "ServerNotFound" in done.stderr
    assert "/no/such/afterturn" in done.stderr
