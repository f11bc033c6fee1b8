"""How much of what later calls need is still in sight after condensing."""

from typing import Any, NamedTuple

from afterturn.replay.sessions import Session

from .tokens import flat, tokens

# Arguments that hold a body of text and not what a call is aimed at, by their names in the harnesses read here.
_BODIES = frozenset(
    (
        "content",
        "edits",
        "file_text",
        "input",
        "newString",
        "newText",
        "new_str",
        "new_string",
        "oldString",
        "oldText",
        "old_str",
        "old_string",
        "patchText",
        "plan",
        "prompt",
        "replace",
        "search",
        "todos",
    )
)


class Needs(NamedTuple):
    """Tokens first seen in a batch's results that arguments of later turns use."""

    used: frozenset[str]
    """In any argument."""
    aimed: frozenset[str]
    """In arguments other than the bodies of edits, patches, plans: paths, commands, patterns."""


def needs(session: Session) -> dict[int, Needs]:
    """For each turn with calls, by its index, what later turns need of its results.

    First seen means: in no text before them, be it the user's, the assistant's, arguments or results, and not in
    the arguments of the same turn.
    """
    in_args = [_in_args(turn.calls, bodies=True) for turn in session.turns]
    last_use: dict[str, int] = {}
    last_aim: dict[str, int] = {}
    for index, turn in enumerate(session.turns):
        last_use.update(dict.fromkeys(in_args[index], index))
        last_aim.update(dict.fromkeys(_in_args(turn.calls, bodies=False), index))
    seen: set[str] = set()
    found: dict[int, Needs] = {}
    for index, turn in enumerate(session.turns):
        seen |= tokens(turn.user_text or "") | tokens(turn.assistant_text or "") | in_args[index]
        output: set[str] = set()
        for call in turn.calls:
            output |= tokens(call.result_text or "")
        if turn.calls:
            new = output - seen
            found[index] = Needs(
                frozenset(token for token in new if last_use.get(token, -1) > index),
                frozenset(token for token in new if last_aim.get(token, -1) > index),
            )
        seen |= output
    return found


def _in_args(calls: list[Any], *, bodies: bool) -> set[str]:
    found: set[str] = set()
    for call in calls:
        args = call.args
        if isinstance(args, dict) and not bodies:
            args = {name: value for name, value in args.items() if name not in _BODIES}
        found |= tokens(flat(args))
    return found


def still_visible(used: frozenset[str], shown: str) -> int:
    """How many of the tokens are tokens of the text that stands in place of the results."""
    return len(used & tokens(shown))
