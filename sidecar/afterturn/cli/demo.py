"""`afterturn demo`: the main job on a real session, through the real process, with nothing kept and no network."""

import argparse
import hashlib
import sys
import tempfile
from importlib.resources import files
from typing import Any

from afterturn.cli.claude_code import read_claude_code
from afterturn.cli.client import Client
from afterturn.cli.transcript import Session, Turn

_SESSION = "demo"
_WIDTH = 100


def run(options: argparse.Namespace) -> int:
    """Condense the shipped session batch by batch, show what became of it, and bring one original back."""
    text = files("afterturn.cli").joinpath("demo_session", "session.jsonl").read_text("utf-8")
    session = read_claude_code(text)[0]
    with (
        tempfile.TemporaryDirectory(prefix="afterturn-demo-") as home,
        Client({"AFTERTURN_HOME": home, "AFTERTURN_SETTINGS": ""}) as client,
    ):
        return 0 if _show(session, client) else 1


def _show(session: Session, client: Client) -> bool:
    turns = [(index, turn) for index, turn in enumerate(session.turns) if turn.calls]
    _say(
        f"A real coding session: {len(session.turns)} turns, {len(session.calls)} tool calls, "
        f"{sum(_size(turn) for _, turn in turns):,} characters of tool output."
    )
    _say("Each turn goes to `afterturn --stdio` as a harness would send it; no model, no network, nothing is kept.\n")
    results = [(turn, _summarize(client, index, turn)) for index, turn in turns]
    _table(results)
    condensed = [(turn, result) for turn, result in results if result["outcome"] == "summarized"]
    if not condensed:
        _say("Nothing was condensed.")
        return False
    turn, result = max(condensed, key=lambda each: each[1]["rawChars"])
    _one_summary(turn, result)
    return _bring_back(client, turn, result)


def _summarize(client: Client, index: int, turn: Turn) -> dict[str, Any]:
    calls = [
        {
            "toolCallId": call.tool_call_id,
            "toolName": call.tool_name,
            "args": call.args,
            "isError": call.is_error,
            "resultTimestamp": call.result_timestamp,
            **({"resultText": call.result} if isinstance(call.result, str) else {"content": call.result}),
        }
        for call in turn.calls
    ]
    batch = {"turnIndex": index, "timestamp": turn.timestamp, "userText": turn.user_text, "toolCalls": calls}
    return client.ask(
        "condense/summarize", {"sessionId": _SESSION, "batch": {**batch, "assistantText": turn.assistant_text}}
    )


def _table(results: list[tuple[Turn, dict[str, Any]]]) -> None:
    _say(f"{'turn':>4}  {'tools':<34} {'before':>9} {'after':>9}   what became of it")
    before = after = 0
    for number, (turn, result) in enumerate(results, 1):
        raw = _size(turn)
        kept = raw - sum(
            _length(turn.calls[item["index"]]) - len(item["replacement"])
            for item in result["items"]
            if "replacement" in item
        )
        before, after = before + raw, after + kept
        tools = ", ".join(call.tool_name for call in turn.calls)
        became = result["outcome"] if result["outcome"] == "summarized" else f"left alone ({result.get('reason')})"
        _say(f"{number:>4}  {_cut(tools, 34):<34} {raw:>9,} {kept:>9,}   {became}")
    _say(f"{'':>4}  {'all':<34} {before:>9,} {after:>9,}   {100 * after / max(before, 1):.1f} % is left in context\n")


def _one_summary(turn: Turn, result: dict[str, Any]) -> None:
    _say(f"The largest one, {result['rawChars']:,} characters, now reads:\n")
    for line in result["summaryText"].splitlines():
        _say(f"    {line}")
    _say("")


def _bring_back(client: Client, turn: Turn, result: dict[str, Any]) -> bool:
    """Resolve one ref page by page, as an agent would, and compare with the original byte for byte."""
    item = next(item for item in result["items"] if item["state"] == "condensed")
    call = turn.calls[int(item["index"])]
    original = (call.result_text or "").encode("utf-8", "surrogatepass")
    text, offset = "", 0
    while offset is not None:
        answer = client.ask("condense/resolveRef", {"sessionId": _SESSION, "refs": [item["shortId"]], "offset": offset})
        record = answer["records"][0]
        text += record["text"]
        offset = record["nextOffset"]
    back = text.encode("utf-8", "surrogatepass")
    same = back == original
    _say(f"`{item['shortId']}` brought back: {len(back):,} bytes, sha256 {hashlib.sha256(back).hexdigest()[:16]}")
    _say(f"the original   : {len(original):,} bytes, sha256 {hashlib.sha256(original).hexdigest()[:16]}")
    _say("the same, byte for byte." if same else "NOT the same: this is a bug, please report it.")
    return same


def _size(turn: Turn) -> int:
    return sum(_length(call) for call in turn.calls)


def _length(call: Any) -> int:
    return len(call.result_text or "")


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
