"""mini-swe-agent: messages with one fenced bash block a turn; the result is the next user message."""

import json
import re

from afterturn.cli.transcript import Call, Session, SessionBuilder, say

_COMMAND = re.compile(r"```bash\s*\n(.*?)\n```", re.DOTALL)
_RETURN_CODE = re.compile(r"<returncode>(-?\d+)</returncode>")


def read_mini_swe_agent(text: str) -> list[Session]:
    """The session of one file.

    A reply whose number of bash blocks is not one was rejected by the harness and ran nothing: no call.
    """
    trajectory = json.loads(text)
    build = SessionBuilder(trajectory.get("instance_id", "mini-swe-agent"))
    messages = trajectory["messages"]
    answered = False
    for at, message in enumerate(messages):
        if message["role"] == "user" and not answered:
            build.user(message["content"])
        answered = False
        if message["role"] != "assistant":
            continue
        turn = build.turn()
        say(turn, _COMMAND.sub("", message["content"]).strip())
        commands = _COMMAND.findall(message["content"])
        if len(commands) == 1:
            call = Call(f"call-{at}", "bash", {"command": commands[0]})
            build.call(turn, call)
            if at + 1 < len(messages):
                answered = True
                result: str = messages[at + 1]["content"]
                code = _RETURN_CODE.match(result)
                call.result = result
                call.is_error = code is not None and code[1] != "0"
    return [build.done()]
