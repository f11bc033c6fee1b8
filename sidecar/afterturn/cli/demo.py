"""`afterturn demo`: the replay of a real session that ships here, one original brought back, and how to go on.

Through the real process, with nothing kept and no network.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from afterturn.cli.client import Client
from afterturn.cli.doctor import command
from afterturn.redact import Redactor
from afterturn.replay.reading import events
from afterturn.replay.runner import Replay, wire_id_of
from afterturn.replay.server import replay_settings
from afterturn.replay.stream import Call, Turn
from afterturn.replay.terminal import make_console, print_report
from afterturn.settings import ENVIRONMENT_NAME
from afterturn.text import clean
from afterturn_protocol.settings import Settings


def run(options: argparse.Namespace) -> int:
    """Replay the shipped session and bring one original back; 1 where it is not the same, which is a bug."""
    settings = Settings()
    tree = replay_settings(settings, model=False, raw=True, vectors=False)
    with (
        as_file(files("afterturn.cli").joinpath("demo_session", "session.jsonl")) as session,
        tempfile.TemporaryDirectory(prefix="afterturn-demo-") as home,
        Client({"AFTERTURN_HOME": home, ENVIRONMENT_NAME: json.dumps(tree)}) as client,
    ):
        redactor = Redactor()
        replay = Replay(
            client, client, redact=lambda text: redactor.redact(text)[0], away_seconds=settings.recap.away_seconds
        )
        _say("A real coding session, sent turn by turn to `afterturn --stdio` as a harness would send it.\n")
        found = replay.run(str(session), events(session))
        print_report(make_console(), found)
        same = _bring_back(client, wire_id_of(found.harness, found.main.session_id), session)
    _say_how_to_go_on()
    return 0 if same else 1


def _bring_back(client: Client, session_id: str, session: Path) -> bool:
    """Show the largest result that was replaced, resolve its ref as an agent would, and compare byte for byte."""
    originals = {call.tool_call_id: call for call in _calls(session) if call.result is not None}
    replaced = client.ask("condense/plan", {"sessionId": session_id})["replacements"]
    chosen = max(replaced, key=lambda each: len(originals[each["toolCallId"]].result_text or ""))
    call, ref = originals[chosen["toolCallId"]], chosen["shortId"]
    original = (call.result_text or "").encode("utf-8", "surrogatepass")
    _say(f"\nBROUGHT BACK  {call.tool_name}, {len(call.result_text or ''):,} characters, now reads:\n")
    for line in clean(chosen["text"]).splitlines():
        _say(f"    {line}")
    back = _resolved(client, session_id, ref).encode("utf-8", "surrogatepass")
    same = back == original
    _say(f"\n  `{ref}` resolved  {len(back):,} bytes, sha256 {hashlib.sha256(back).hexdigest()[:16]}")
    _say(f"  the original   {len(original):,} bytes, sha256 {hashlib.sha256(original).hexdigest()[:16]}")
    _say("  the same, byte for byte." if same else "  NOT the same: this is a bug, please report it.")
    return same


def _calls(session: Path) -> list[Call]:
    return [call for event in events(session) if isinstance(event, Turn) for call in event.calls]


def _resolved(client: Client, session_id: str, ref: str) -> str:
    """The whole original, page by page."""
    pages: list[str] = []
    offset: int | None = 0
    while offset is not None:
        asked: dict[str, Any] = {"sessionId": session_id, "refs": [ref], "offset": offset}
        record = client.ask("condense/resolveRef", asked)["records"][0]
        pages.append(record["text"])
        offset = record["nextOffset"]
    return "".join(pages)


def _say_how_to_go_on() -> None:
    absolute = command()
    pasted = json.dumps({"command": absolute[0], "args": [*absolute[1:], "--stdio"]})
    lua = json.dumps([*absolute, "--stdio"]).replace("[", "{").replace("]", "}")
    _say("\nGO ON  with sessions of your own:\n")
    _say("    afterturn replay ~/.claude/projects        or ~/.pi, ~/.codex/sessions, any file; --html OUT for a page")
    _say("\nin pi:\n")
    _say(f"    pi install {_pi_extension()}")
    _say(f"    export AFTERTURN_PATH={absolute[0]}")
    _say("\nin Neovim (0.11 or newer):\n")
    _say(f"    vim.lsp.config('afterturn', {{ cmd = {lua} }}) vim.lsp.enable('afterturn')")
    _say("\nin any other editor or harness:\n")
    _say(f"    {pasted}")


def _pi_extension() -> str:
    """The folder of the extension in a checkout; where this is an installed package, its name."""
    beside = Path(__file__).resolve().parents[3] / "clients" / "pi"
    return str(beside) if (beside / "package.json").is_file() else "npm:afterturn-pi"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
