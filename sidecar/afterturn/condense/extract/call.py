"""A tool call, read: its name, its arguments by meaning, and its output unwrapped."""

from typing import Any, cast

import msgspec

from afterturn.condense.extract.output import Output, unwrap
from afterturn.condense.extract.safe import is_instruction, plain
from afterturn.condense.extract.view import ToolView
from afterturn.text import cut

_MAX_ARG_CHARS = 4000
_MAX_ARGS = 60

# Argument names of the harnesses, without case, "_" and "-", by what they mean; the first that is there wins.
COMMAND = ("command", "cmd", "script", "shellcommand", "commandline", "code", "input", "chars")
PATH = (
    *("filepath", "path", "absolutepath", "targetfile", "filename", "file", "notebookpath", "dirpath", "directory"),
    *("relativepath", "relativeworkspacepath", "targetdirectory", "folder", "uri", "paths", "files", "dir"),
)
PATTERN = (
    "pattern",
    "regex",
    "regexp",
    "searchpattern",
    "globpattern",
    "glob",
    "searchterm",
    "search",
    "query",
    "name",
)
URL = ("url", "urls", "uri", "link", "href")
QUERY = ("query", "q", "searchquery", "searchterm", "objective", "question")
ASK = ("description", "title", "subject", "prompt", "task", "message", "text", "instruction", "name", "id")


class Call(msgspec.Struct, frozen=True):
    """One call as the extractors see it.

    `tool`: the name to show. `name`: the bare name to classify by, lower case, without an MCP server's prefix.
    `args`: scalar arguments by normalised name, as text. `raw`: the arguments when they are one text.
    """

    tool: str
    name: str
    args: dict[str, str]
    raw: str
    output: Output
    is_error: bool = False
    status: str | None = None

    def arg(self, names: tuple[str, ...]) -> str:
        """The first argument of these names that is there and not blank, else ""."""
        for name in names:
            value = self.args.get(name)
            if value and not value.isspace():
                return value
        return ""

    def has(self, *names: str) -> bool:
        return any(name in self.args for name in names)

    @property
    def body(self) -> str:
        return self.output.body


def read_call(view: ToolView) -> Call:
    """Parse a view. Any JSON value is accepted as arguments."""
    args, raw = _arguments(view.args)
    tool = cut(plain(view.tool_name[:200]), 60)
    return Call(
        tool=tool if tool and not is_instruction(tool) else "tool",
        name=_bare_name(view.tool_name),
        args=args,
        raw=raw,
        output=unwrap(view.text),
        is_error=view.is_error or view.status == "error",
        status=view.status,
    )


def _bare_name(tool_name: str) -> str:
    name = tool_name[-200:].strip()
    for separator in ("__", ".", "/", ":"):
        name = name.rpartition(separator)[2] or name
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _arguments(args: Any) -> tuple[dict[str, str], str]:
    if isinstance(args, str):
        stripped = args.strip()
        if stripped.startswith("{") and len(stripped) < 400_000:
            try:
                args = msgspec.json.decode(stripped)
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                return {}, args[:_MAX_ARG_CHARS]
        else:
            return {}, args[:_MAX_ARG_CHARS]
    if not isinstance(args, dict):
        return {}, _scalar(args)
    flat: dict[str, str] = {}
    for key, value in list(cast("dict[Any, Any]", args).items())[:_MAX_ARGS]:
        if isinstance(value, dict):
            for inner, leaf in list(cast("dict[Any, Any]", value).items())[:_MAX_ARGS]:
                _put(flat, inner, leaf)
        else:
            _put(flat, key, value)
    return flat, ""


def _put(flat: dict[str, str], key: Any, value: Any) -> None:
    text = _scalar(value)
    if text:
        flat.setdefault(str(key)[:60].lower().replace("_", "").replace("-", ""), text)


def _scalar(value: Any) -> str:
    """A scalar as text; a list of scalars as the words of a command; anything deeper as ""."""
    if isinstance(value, str):
        return value[:_MAX_ARG_CHARS]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)[:40]
    if isinstance(value, list | tuple):
        words = [_scalar(item) for item in cast("list[Any]", value)[:_MAX_ARGS] if isinstance(item, str | int | float)]
        return " ".join(words)[:_MAX_ARG_CHARS]
    return ""
