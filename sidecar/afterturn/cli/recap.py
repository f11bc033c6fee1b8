"""`afterturn recap FILE`: the recap of a transcript file, for people (recap.md).

What is read: the session files of the harnesses that `afterturn replay` reads, and plain JSON: a list of messages of
the protocol, or a RecapContext object. The model is the one that the settings name; with --facts, or where there is
none, the recap is made here and nothing leaves the machine. Nothing is kept.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import msgspec

from afterturn.cli.client import Client, ServerFailed
from afterturn.recap.prompting import RecapInput, build_input
from afterturn.recap.requests import is_genuine
from afterturn.recap.window import text_of
from afterturn.redact import Redactor
from afterturn.replay import conversation
from afterturn.replay.reading import UnreadableError
from afterturn.replay.sessions import Session, sessions
from afterturn.settings import ENVIRONMENT_NAME
from afterturn_protocol.base import Message
from afterturn_protocol.context import RecapContext
from afterturn_protocol.settings import RecapSettings

_SENT = 200
_FORMATS = "a session file of a harness, or JSON: a list of messages or a RecapContext"


def run(options: argparse.Namespace) -> int:
    """Print the recap, or with --prompt what a model would be given. 1 where the file cannot be read as a session."""
    try:
        context = read_context(Path(options.file))
    except OSError as problem:
        sys.stderr.write(f"afterturn: {options.file}: {problem.strerror or problem}\n")
        return 1
    except ValueError as problem:
        sys.stderr.write(f"afterturn: {options.file}: {problem}\n")
        return 1
    made = build_input(context, RecapSettings(), lambda text: Redactor().redact(text)[0], None)
    if options.prompt:
        sys.stdout.write("".join(f"{message.content}\n" for message in made.messages))
        return 0
    drafted = None if options.facts or made.empty else _drafted(_recent(context))
    if options.json:
        sys.stdout.write(json.dumps(_as_json(made, context, drafted), ensure_ascii=False, indent=1) + "\n")
    else:
        sys.stdout.write(f"{drafted['text'] if drafted else made.facts or 'There is nothing to recap.'}\n")
    return 0


def _recent(context: RecapContext) -> RecapContext:
    """What a recap is drafted from, and little more: a file may be larger than a message."""
    if len(context.messages) <= _SENT:
        return context
    genuine = next((message for message in context.messages if is_genuine(message)), None)
    first = context.first_user_request
    if first is None and genuine is not None:
        first = text_of(genuine)
    return msgspec.structs.replace(context, messages=context.messages[-_SENT:], first_user_request=first)


def _drafted(context: RecapContext) -> dict[str, Any] | None:
    """The recap of a server with the user's own settings and a store of its own; None where no model wrote one.

    A failure is said on stderr.
    """
    try:
        with (
            tempfile.TemporaryDirectory(prefix="afterturn-recap-") as folder,
            Client({ENVIRONMENT_NAME: _settings(Path(folder) / "afterturn.db")}) as client,
        ):
            drafted = client.ask("recap/now", {"sessionId": "afterturn recap", "context": context})["recap"]
            return drafted if drafted is not None and drafted["origin"] == "generated" else None
    except ServerFailed as problem:
        sys.stderr.write(f"afterturn: {problem}; this is the recap without a model\n")
        return None


def _settings(store: Path) -> str:
    """What the environment sets, with another store."""
    given = _json(os.environ.get(ENVIRONMENT_NAME, ""))
    tree: dict[str, Any] = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    kept: Any = tree.get("store")
    own = cast("dict[str, Any]", kept) if isinstance(kept, dict) else {}
    return json.dumps({**tree, "store": {**own, "path": str(store), "url": None}})


def read_context(path: Path) -> RecapContext:
    """The context that a file holds. Raises ValueError, with a sentence for a person, when it holds none; OSError."""
    try:
        found = sessions(path)
    except UnreadableError as problem:
        return _protocol(path, problem)
    return RecapContext(messages=messages_of(max(found, key=lambda session: len(session.turns))))


def _protocol(path: Path, problem: UnreadableError) -> RecapContext:
    """What the file holds where it is of the protocol and not of a harness."""
    whole = _json(path.read_text(encoding="utf-8-sig", errors="replace"))
    if isinstance(whole, list):
        return RecapContext(messages=_converted(whole, list[Message]))
    if isinstance(whole, dict) and "messages" in whole:
        return _converted(whole, RecapContext)
    raise ValueError(f"no session found: it {problem.reason}; what can be read is {_FORMATS}") from None


def messages_of(session: Session) -> list[Message]:
    """A session as messages of the protocol."""
    return [message for turn in session.turns for message in conversation.messages_of(turn)]


def _as_json(made: RecapInput, context: RecapContext, drafted: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "recap": drafted["text"] if drafted else made.facts,
        "origin": drafted["origin"] if drafted else "facts",
        "model": drafted["model"] if drafted else None,
        "usage": drafted["usage"] if drafted else None,
        "contextHash": made.context_hash,
        "gate": made.gate,
        "messages": len(context.messages),
        "promptChars": sum(len(message.content) for message in made.messages),
    }


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _converted(value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        raise ValueError(f"not a conversation of the protocol: {problem}") from None
