"""`afterturn demo`: the replay of a real session that ships here, one original brought back, and how to go on.

Through the real process, with nothing kept and no network.
"""

import argparse
import hashlib
import json
import shlex
import sys
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from afterturn.cli.client import Client
from afterturn.cli.doctor import command
from afterturn.cli.ending import ended_well
from afterturn.cli.workplace import workplace
from afterturn.replay.reading import events
from afterturn.replay.runner import Replay, wire_id_of
from afterturn.replay.server import away_ms, readable, replay_settings
from afterturn.replay.stream import Call, Turn
from afterturn.replay.terminal import make_console, print_report
from afterturn.settings import ENVIRONMENT_NAME
from afterturn.text import clean
from afterturn_protocol.settings import Settings


def run(options: argparse.Namespace) -> int:
    """Replay the shipped session and bring one original back; 1 where it is not the same, which is a bug."""
    return ended_well(_shown)


def _shown() -> int:
    settings = Settings()
    tree = replay_settings(settings, model=False, raw=True, vectors=False)
    with (
        as_file(files("afterturn.cli").joinpath("demo_session", "session.jsonl")) as session,
        workplace("demo") as home,
        Client({"AFTERTURN_HOME": str(home), ENVIRONMENT_NAME: json.dumps(tree)}) as client,
    ):
        replay = Replay(client, client, readable=readable(settings), away_ms=away_ms(settings))
        _say("A real coding session, sent turn by turn to `afterturn --stdio` as a harness would send it.\n")
        found = replay.run(str(session), events(session))
        print_report(make_console(), found)
        same = _bring_back(client, wire_id_of(found.harness, found.main.session_id), session)
    for line in how_to_go_on(command(), *_pi_extension()):
        _say(line)
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


def how_to_go_on(absolute: Sequence[str], extension: str, unbuilt: Path | None = None) -> list[str]:
    """Lines to paste, whatever stands in the paths. absolute: the command of this installation, which need not be on
    PATH. unbuilt: the checkout, where pi's extension is not built yet.
    """
    pasted = json.dumps({"command": absolute[0], "args": [*absolute[1:], "--stdio"]}, ensure_ascii=False)
    lua = ", ".join(json.dumps(word, ensure_ascii=False) for word in [*absolute, "--stdio"])
    found_by_pi = [f"    export AFTERTURN_PATH={shlex.quote(absolute[0])}"] if len(absolute) == 1 else []
    return [
        "\nGO ON  with sessions of your own:\n",
        f"    {shlex.join(absolute)} replay ~/.claude/projects",
        "    or ~/.pi, ~/.codex/sessions, any file; --html OUT for a page",
        "\nin pi:\n",
        *([] if unbuilt is None else [f"    make -C {shlex.quote(str(unbuilt))} setup"]),
        f"    pi install {shlex.quote(extension)}",
        *found_by_pi,
        "\nin Neovim (0.11 or newer):\n",
        f"    vim.lsp.config('afterturn', {{ cmd = {{{lua}}} }}) vim.lsp.enable('afterturn')",
        "\nin any other editor or harness:\n",
        f"    {pasted}",
    ]


def _pi_extension() -> tuple[str, Path | None]:
    """The folder of the extension in a checkout, and the checkout where it is still to be built (`make demo` builds no
    extension); where this is an installed package, its name.
    """
    checkout = Path(__file__).resolve().parents[3]
    beside = checkout / "clients" / "pi"
    if not (beside / "package.json").is_file():
        return "npm:afterturn-pi", None
    return str(beside), None if (beside / "dist" / "afterturn.cjs").is_file() else checkout


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
