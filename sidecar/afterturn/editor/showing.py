"""What a hover says of a ref. Pure: a record in, text out."""

import json
import re

from afterturn.text import clean, cut, cut_at_line, one_line
from afterturn_protocol.refs import RefRecord

HEAD_CHARS = 2000
HEAD_LINES = 20
ARGS_CHARS = 500
_NAME_CHARS = 100
_LONGEST_LINE = 400

_BACKTICKS = re.compile("`+")


def whole(text: str) -> str:
    """`text` without halves of characters, which JSON can carry and no editor can show."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def shown(record: RefRecord, status: str | None, *, markdown: bool) -> str:
    """Tool, args, status and the head of the output. status: as the host gave it; else the record says it."""
    said = _plain(status) if status else ("error" if record.is_error else "ok")
    args = "" if record.args in (None, {}) else cut(json.dumps(record.args, ensure_ascii=False), ARGS_CHARS)
    head = _head(record.text, more=record.next_offset is not None)
    facts = [said, f"turn {record.turn_index}", f"{record.total_chars:,} chars"]
    facts += [f"{_plain(image.mime_type)} ({image.bytes or 0:,} bytes)" for image in record.images or ()]
    if record.lossy:
        facts.append("kept without its secrets")
    name = _plain(record.tool_name)
    if markdown:
        parts = [f"**{record.short_id}** {_code(name)} · {' · '.join(map(_code_if_odd, facts))}"]
        parts += [_fenced(clean(args), "json")] if args else []
        parts += [_fenced(head, "text")] if head else []
    else:
        parts = [f"{record.short_id} {name} · {' · '.join(facts)}", clean(args), head]
    return "\n\n".join(part for part in parts if part)


def _head(text: str, *, more: bool) -> str:
    """The first lines of an output as a terminal would have left them, with a mark where something is left out."""
    lines = clean(text[: 2 * HEAD_CHARS]).split("\n")
    head = cut_at_line("\n".join(cut(line, _LONGEST_LINE) for line in lines[:HEAD_LINES]), HEAD_CHARS).rstrip()
    more = more or len(text) > HEAD_CHARS or len(lines) > HEAD_LINES
    return f"{head}\n\u2026" if more else head


def _plain(word: str) -> str:
    """A host's own word, which may hold anything, as a person can read it."""
    return one_line(clean(cut(word, _NAME_CHARS)))


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"


def _code_if_odd(fact: str) -> str:
    """A host's own word is quoted, so that it cannot be Markdown."""
    return fact if re.fullmatch(r"[\w ,()/]*", fact) else _code(fact)


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
