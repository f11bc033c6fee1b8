"""How a facts recap names a step: its command or its tool and file, short and safe."""

import re
from functools import cache

from afterturn.recap.sanitising import sanitise
from afterturn.recap.steps import Step, command_of
from afterturn.recap.truncating import Redact
from afterturn.recap.writes import written_paths
from afterturn.text import cut_words, one_line

_MAX_NAME = 48
_READ = 2000


def step_name(step: Step, redact: Redact) -> str:
    """The command line that the step runs, else its tool, with the name of the file that it writes."""
    command = command_of(step.call)
    if command:
        return command_name(command, redact)
    paths = written_paths(step.call)
    name = sanitise(step.call.name)[:_MAX_NAME]
    return f"{name} {first_line(paths[0].rpartition('/')[2], _MAX_NAME, redact)}" if paths else name


def command_name(command: str, redact: Redact) -> str:
    """A command without the change of folder before it, comments and what it is fed."""
    lines = (line.strip() for line in command.split("\n"))
    line = _moving().sub("", next((line for line in lines if line and line[0] != "#"), ""))
    return first_line(line.partition(" <<")[0].partition(' "$(')[0], _MAX_NAME, redact)


def first_line(text: str, limit: int, redact: Redact) -> str:
    """The first line that is not blank, in at most `limit` chars, sanitised and redacted."""
    line = next((line for line in text[:_READ].split("\n") if line.strip()), "")
    return cut_words(one_line(redact(sanitise(line))), limit)


@cache
def _moving() -> re.Pattern[str]:
    return re.compile(r"^(?:cd\s+\S+\s*(?:&&|;)\s*)+")
