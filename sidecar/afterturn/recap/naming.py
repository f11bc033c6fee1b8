"""How a facts recap names a step: its command or its tool and file, short and safe."""

import re
from collections.abc import Set
from functools import cache

from afterturn.recap.runs import kinds_of
from afterturn.recap.sanitising import sanitise
from afterturn.recap.steps import Step, command_of
from afterturn.recap.truncating import Redact
from afterturn.recap.writes import path_of, written_paths
from afterturn.text import cut_words, one_line

_MAX_NAME = 48
_READ = 2000


def step_name(step: Step, redact: Redact) -> str:
    """The command line that the step runs, else its tool, with the name of the file that it is about."""
    command = command_of(step.call)
    if command:
        return command_name(command, redact)
    paths = written_paths(step.call) or [path_of(step.call) or ""]
    name = sanitise(step.call.name)[:_MAX_NAME]
    file = first_line(paths[0].rstrip("/").rpartition("/")[2], _MAX_NAME, redact)
    return f"{name} {file}".rstrip()


def command_name(command: str, redact: Redact, kinds: Set[str] = frozenset()) -> str:
    """A command without the change of folder before it, comments and what it is fed.

    kinds: of several commands in one line the last that is of one of these (see runs.kinds_of), where there is one.
    """
    lines = (line.strip() for line in command.split("\n"))
    line = _moving().sub("", next((line for line in lines if line and line[0] != "#"), ""))
    fed = _fed().search(line)
    if fed is not None:
        line = line[: fed.start()]
    if kinds and not ("'" in line or '"' in line):
        parts = (part.strip() for part in _apart().split(line))
        line = next((part for part in reversed([*parts]) if kinds & {*kinds_of(part)}), line)
    return first_line(line, _MAX_NAME, redact)


def first_line(text: str, limit: int, redact: Redact) -> str:
    """The first line that is not blank, in at most `limit` chars, sanitised and redacted."""
    line = next((line for line in text[:_READ].split("\n") if line.strip()), "")
    return cut_words(one_line(redact(sanitise(line))), limit)


@cache
def _fed() -> re.Pattern[str]:
    """A here-document, or a text that another command makes, with the option that takes it."""
    return re.compile(r"(?: -{1,2}[\w-]+)? (?:<<|\"\$\()")


@cache
def _apart() -> re.Pattern[str]:
    return re.compile(r"&&|;")


@cache
def _moving() -> re.Pattern[str]:
    return re.compile(r"^(?:cd\s+\S+\s*(?:&&|;)\s*)+")
