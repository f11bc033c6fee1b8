"""The commands for people. Never imported by the server; here printing is the job."""

import argparse
import io
import os
import sys
from collections.abc import Callable
from importlib import import_module

from afterturn import PROTOCOL_VERSION, __version__

_ABOUT = (
    "A sidecar that agent harnesses and editors spawn beside themselves: it condenses finished tool calls into bullets "
    "with refs that bring every original back, drafts recaps for a person who was away, and captures finished episodes "
    "as traces that can be searched."
)
_SERVING = (
    "Without a command, `afterturn --stdio` serves one client over stdin and stdout (JSON-RPC 2.0, framed as LSP \
frames it); that is what a harness or an editor runs. `afterturn doctor` prints the line to paste into its settings."
)
_REPLAY_CODES = (
    "Exit code 0: all was replayed, of a DIR every file that holds a session. 2: a FILE cannot be read, or nothing "
    "in a DIR can. 1: something else failed."
)


def run(args: list[str]) -> int:
    """Run one command; returns the exit code: 0, 1 for what could not be done, 2 for a line that makes no sense."""
    _give_streams()
    options = _parser().parse_args(args or ["--help"])
    try:
        run_command: Callable[[argparse.Namespace], int] = import_module(f"afterturn.cli.{options.command}").run
        code = run_command(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # `afterturn ... | head`
        _drop_output()
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("\nafterturn: stopped\n")
        return 130
    except OSError as problem:  # the output has nowhere to go; commands speak for all other files themselves
        sys.stderr.write(f"afterturn: {problem.strerror or problem}\n")
        _drop_output()
        return 1


def _drop_output() -> None:
    """Let nothing be written at the interpreter's end that could not be written now."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _give_streams() -> None:
    """Output is UTF-8 whatever the locale, and a half of a surrogate pair is shown as its escape.

    A stream that was closed before (`>&-`) takes what is written and keeps nothing.
    """
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(open(os.devnull, "wb"))  # noqa: PTH123 (it lives as long as the process)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="afterturn", description=_ABOUT, epilog=_SERVING)
    parser.add_argument("--version", action="version", version=f"afterturn {__version__} (protocol {PROTOCOL_VERSION})")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands.add_parser("demo", help="replay a real session that ships with afterturn, and bring one original back")
    doctor = commands.add_parser("doctor", help="what was found here, and the command to paste into a host's settings")
    doctor.add_argument("--json", action="store_true", help="for programs")
    schema = commands.add_parser("schema", help="print the protocol of this version as JSON Schema")
    schema.add_argument("--meta", action="store_true", help="print methods, events and error kinds instead")
    refs = commands.add_parser("refs", help="list what is archived of a session, or print one original")
    refs.add_argument("session", metavar="SESSION", help="the session's id, as the host calls it")
    refs.add_argument("ref", metavar="REF", nargs="?", help="t12, b3 or a tool call's id: print it whole")
    refs.add_argument("--grep", metavar="TEXT", help="only lines that hold TEXT, with line numbers")
    recap = commands.add_parser("recap", help="what a session was about, and what it waits for, from its file")
    recap.add_argument("file", metavar="FILE", help="a session file of a harness, or JSON: messages or a context")
    recap.add_argument("--facts", action="store_true", help="ask no model: what the file itself says")
    recap.add_argument("--prompt", action="store_true", help="print what a model would be given instead")
    recap.add_argument("--json", action="store_true", help="for programs")
    _add_replay(
        commands.add_parser(
            "replay", help="what afterturn makes of finished sessions, of any harness", epilog=_REPLAY_CODES
        )
    )
    _add_traces(commands.add_parser("traces", help="what was captured: list, show, search, or export it"))
    commands.add_parser("reembed", help="make vectors anew where they are missing or of another model; can be resumed")
    wipe = commands.add_parser("wipe", help="erase everything that afterturn has stored")
    wipe.add_argument("--yes", action="store_true", help="do not ask")
    return parser


def _add_replay(replay: argparse.ArgumentParser) -> None:
    replay.add_argument("paths", metavar="FILE|DIR", nargs="+", help="session files, or folders with them")
    replay.add_argument("--json", action="store_true", help="for programs: one JSON object a line for each file")
    replay.add_argument("--html", metavar="OUT", help="write a page that needs nothing else, to look at or send on")
    replay.add_argument("--import", dest="keep", action="store_true", help="keep the traces in your store")
    replay.add_argument("--model", action="store_true", help="ask the model that your settings name; else none is")


def _add_traces(traces: argparse.ArgumentParser) -> None:
    actions = traces.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="traces, newest first")
    show = actions.add_parser("show", help="all of one trace")
    show.add_argument("trace", metavar="TRACE", help="its id, as list and search print it")
    search = actions.add_parser("search", help="traces that fit, best first")
    search.add_argument("query", metavar="QUERY", help="words, in any language")
    export = actions.add_parser("export", help="every trace as one JSON object a line")
    for action in (listing, search, export):
        action.add_argument("--project", metavar="PROJECT", help="only of this project; otherwise of all")
    for action in (listing, export):
        action.add_argument("--session", metavar="SESSION", help="only of this session")
        action.add_argument("--episode", metavar="EPISODE", help="only of this episode, in step order")
    for action, usual in ((listing, 50), (search, 10)):
        action.add_argument("--limit", type=_positive, default=usual, metavar="N", help=f"at most so many ({usual})")
    for action in (listing, show, search):
        action.add_argument("--json", action="store_true", help="for programs")


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 is needed, not {text!r}")
    return number
