"""Joining batch summaries into a block (condense.md, 'Blocks'). Every ref of the input survives; none is added."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from afterturn.condense.footer import footer, without_footer
from afterturn.text import cut, one_line

_BARE = re.compile(r"(?<!\w)([tb][1-9][0-9]*)(?!\w)")
_TICKED = re.compile(r"`([tb][1-9][0-9]*)`")
_ARGS_SHOWN = 200


class CallFact(Struct, frozen=True):
    """What a deterministic block says of a call. tool_name, args (JSON text): redacted."""

    ref: str
    tool_name: str
    args: str
    turn_index: int
    result_timestamp: int | None


def tokens(text: str) -> list[str]:
    """The refs that stand in backticks in `text`, each once, in order."""
    return list(dict.fromkeys(_TICKED.findall(text)))


def joined(summaries: Sequence[str]) -> str:
    """Summaries as one, oldest first, each without its footer."""
    return "\n\n".join(without_footer(summary).strip("\n") for summary in summaries)


def only_known(text: str, known: Sequence[str], source: str) -> str:
    """`text` without refs that are neither in `known` nor anywhere in `source`."""
    allowed = {*known, *_BARE.findall(source)}

    def kept(found: re.Match[str]) -> str:
        return found[0] if found[1] in allowed else ""

    # Again and again, because deleting one can join another.
    while (shorter := _TICKED.sub(kept, text)) != text:
        text = shorter
    return _BARE.sub(kept, text)


def with_survivors(body: str, refs: Sequence[str], recovery_tool_name: str) -> str:
    """A block's text: the body, and a footer that lists the refs which the body does not have in backticks."""
    there = set(tokens(body))
    missing = [ref for ref in refs if ref not in there]
    return body + footer(missing, recovery_tool_name) if missing else body


def bare_block(calls: Sequence[CallFact]) -> str:
    """What can be said of calls without any summary; the same for the same calls, whatever the time is."""
    counts: dict[str, int] = {}
    for call in calls:
        counts[call.tool_name] = counts.get(call.tool_name, 0) + 1
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    histogram = ", ".join(f"{_shown(name)} x{count}" for name, count in ranked)
    lines = [f"- {len(calls)} tool calls without a summary: {histogram}", *_span(calls)]
    lines.append(f"- first: `{calls[0].ref}` {_call(calls[0])}")
    if len(calls) > 1:
        lines.append(f"- last: `{calls[-1].ref}` {_call(calls[-1])}")
    return "\n".join(lines)


def _call(call: CallFact) -> str:
    args = "" if call.args in ("null", "{}") else _shown(call.args)
    return f"{_shown(call.tool_name)} {cut(args, _ARGS_SHOWN)}".rstrip()


def _shown(text: str) -> str:
    """A host's text as one line, in which nothing reads as a ref."""
    return one_line(text).replace("`", "'")


def _span(calls: Sequence[CallFact]) -> list[str]:
    turns = [call.turn_index for call in calls]
    span = f"- turns {min(turns)} to {max(turns)}"
    times = [call.result_timestamp for call in calls if call.result_timestamp is not None]
    if times:
        first, last = _time(min(times)), _time(max(times))
        if first and last:
            span += f", {first} to {last}"
    return [span]


def _time(epoch_ms: int) -> str:
    try:
        return datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        # A host's clock may say anything; a time that is no date is left out.
        return ""


def plain_args(args: str) -> str:
    """Args as people read them: other scripts as themselves."""
    return json.dumps(json.loads(args), ensure_ascii=False) if "\\u" in args else args
