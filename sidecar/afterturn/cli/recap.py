"""`afterturn recap FILE`: the recap of a transcript file, for people (recap.md).

What is read: the session files of the harnesses that `afterturn replay` reads, and plain JSON: a list of messages of
the protocol, or a RecapContext object. The model is the one that the settings name; with --facts, or where there is
none, the recap is made here and nothing leaves the machine. Nothing is kept.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from afterturn.cli.client import Client, ServerFailed
from afterturn.cli.ending import ended_well
from afterturn.cli.place import told_settings
from afterturn.cli.workplace import workplace
from afterturn.misfits import InvalidInputError
from afterturn.recap.contexts import check_messages
from afterturn.recap.prompting import RecapInput, build_input
from afterturn.recap.requests import is_genuine
from afterturn.recap.window import text_of
from afterturn.replay import conversation
from afterturn.replay.reading import UnreadableError
from afterturn.replay.server import elsewhere, redacting
from afterturn.replay.sessions import Session, sessions
from afterturn.replay.wording import complaint
from afterturn.settings import ENVIRONMENT_NAME
from afterturn_protocol.base import Message
from afterturn_protocol.context import RecapContext
from afterturn_protocol.settings import Settings

_SENT = 200
_HEAD_CHARS = 4096
_FORMATS = "a session file of a harness, or JSON: a list of messages or a RecapContext"


def run(options: argparse.Namespace) -> int:
    """Print the recap, or with --prompt what a model would be given. 1 where the file cannot be read as a session."""
    return ended_well(lambda: _recapped(options, told_settings(os.environ)))


def _recapped(options: argparse.Namespace, settings: Settings) -> int:
    if not options.file:  # which as a path is this folder
        sys.stderr.write(complaint("FILE is empty: which session?"))
        return 1
    try:
        context = read_context(Path(options.file))
    except OSError as problem:
        sys.stderr.write(complaint(f"{options.file}: {problem.strerror or problem}"))
        return 1
    except ValueError as problem:
        sys.stderr.write(complaint(f"{options.file}: {problem}"))
        return 1
    made = build_input(context, settings.recap, redacting(settings), None)
    if options.prompt:
        sys.stdout.write("".join(f"{message.content}\n" for message in made.messages))
        return 0
    drafted = None if options.facts or made.empty else _drafted(_recent(context), settings)
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


def _drafted(context: RecapContext, settings: Settings) -> dict[str, Any] | None:
    """The recap of a server with these settings and a store of its own; None where no model wrote one.

    A failure is said on stderr.
    """
    try:
        with (
            workplace("recap") as folder,
            Client({ENVIRONMENT_NAME: json.dumps(_own(settings, folder / "afterturn.db"))}) as client,
        ):
            drafted = client.ask("recap/now", {"sessionId": "afterturn recap", "context": context})["recap"]
            return drafted if drafted is not None and drafted["origin"] == "generated" else None
    except ServerFailed as problem:
        sys.stderr.write(f"afterturn: {problem}; this is the recap without a model\n")
        return None


def _own(settings: Settings, store: Path) -> dict[str, Any]:
    return elsewhere(msgspec.to_builtins(settings), str(store))


def read_context(path: Path) -> RecapContext:
    """The context that a file holds. Raises ValueError, with a sentence for a person, when it holds none; OSError."""
    try:
        found = sessions(path)
    except UnreadableError as problem:
        return _protocol(path, problem)
    return RecapContext(messages=messages_of(main_of(found)))


def _protocol(path: Path, problem: UnreadableError) -> RecapContext:
    """What the file holds where it is of the protocol and not of a harness."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        text = file.read(_HEAD_CHARS)
        if text.lstrip()[:1] in ("[", "{"):  # what is none may be a disk image, or a device without an end
            text += file.read()
    whole = _json(text)
    if isinstance(whole, list):
        messages = _converted(whole, list[Message])
        _check("$", messages)
        return RecapContext(messages=messages)
    if isinstance(whole, dict) and "messages" in whole:
        context = _converted(whole, RecapContext)
        _check("$.messages", context.messages)
        return context
    raise ValueError(f"no session found: it {problem.reason}; what can be read is {_FORMATS}") from None


def main_of(found: Sequence[Session]) -> Session:
    """The session that a file is about: of those that come of no other the one with most turns."""
    own = [session for session in found if session.start is None or session.start.parent_id is None] or found
    return max(own, key=lambda session: len(session.turns))


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


def _check(path: str, messages: list[Message]) -> None:
    try:
        check_messages(path, messages)
    except InvalidInputError as problem:
        raise ValueError(f"not a conversation of the protocol: {problem}") from None
