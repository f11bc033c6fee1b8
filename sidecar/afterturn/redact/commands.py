"""Commands: what is secret in options that do not say so, `mysql -p…`, `curl -u user:…`, `redis-cli -a …`."""

import re
from collections.abc import Iterator

from msgspec import Struct

from afterturn.redact import headers, names, urls
from afterturn.redact.span import BY_PLACE, Span
from afterturn.redact.values import Setting, is_secret

# A command with the lines that it goes on in, and the part of it up to the next command.
_LINE = re.compile(r"[^\n\\]*+(?:\\(?s:.)[^\n\\]*+)*+")
# None of the options stands without this.
OPTION = re.compile(r"-(?<= -)[pPaw]")
_NEXT = re.compile(r"(?:&&|\|\|?|;)\s")
# Chars from a command in which its options stand.
CHARS = 2048
_VALUE = (
    r"(?:\\{0,3}'(?P<single>[^'\n\\]{1,256})\\{0,3}'|\\{0,3}\"(?P<double>[^\"\n\\]{1,256})\\{0,3}\""
    r"|(?P<bare>(?![;&|<>)-])[^\s\"'\\]{1,256}+))"
)


class Command(Struct, frozen=True):
    """A command.

    word: what is looked for, in lower case. program: where the command begins, at most 24 chars before the word.
    option: its password with what stands before it. Both are None for curl.
    """

    word: str
    program: re.Pattern[str] | None = None
    option: re.Pattern[str] | None = None


def _command(word: str, program: str, option: str) -> Command:
    return Command(
        word,
        re.compile(rf"(?:\A|[\s\"'`/;|&(])(?:{program})(?=\s)"),
        re.compile(rf"(?<= )(?:{option}){_VALUE}"),
    )


COMMANDS = (
    Command("curl"),
    _command("mysql", r"mysql(?:dump|admin|import|show|check|pump|sh|binlog|slap)?(?:\.exe)?", r"-p(?!\d{1,5}:)"),
    _command("mariadb", r"mariadb(?:-dump|-admin|-import|-show|-check|-binlog)?", r"-p(?!\d{1,5}:)"),
    _command("login", r"(?:docker|podman|nerdctl|buildah|skopeo|crane|az|oc|cf|helm registry) login", r"-p[ =]?"),
    _command("redis-cli", r"redis-cli", r"-a[ =]{1,4}"),
    _command("sqlcmd", r"sqlcmd", r"-P ?"),
    _command("mongo", r"mongo(?:sh|dump|restore|export|import)?", r"-p[ =]{1,4}"),
    _command("ldap", r"ldap(?:search|add|modify|delete|whoami|compare|modrdn)", r"-w ?"),
    _command("7z", r"7z[az]?", r"-p"),
    _command("zip", r"(?:un)?zip", r"-P ?"),
)


class Places:
    """Where the word of a command stands in a text, in chars; `done` is up to where the command is dealt with."""

    def __init__(self, text: str, command: Command, places: list[int], done: int) -> None:
        self.text = text
        self.command = command
        self.places = places
        self.done = done

    def secrets(self) -> Iterator[Span]:
        """The secrets in the options of the command."""
        for at in self.places:
            if at < self.done:
                continue
            if self.command.program and self.command.option:
                yield from self.passwords(at, self.command.program, self.command.option)
            else:
                line = _LINE.match(self.text, at, at + CHARS)
                found, self.done = _curl(self.text, at, line.end() if line else at)
                yield from found

    def passwords(self, at: int, program: re.Pattern[str], option: re.Pattern[str]) -> Iterator[Span]:
        text = self.text
        started = program.search(text, max(0, at - 24), at + 24)
        if not started or started.end() <= at:
            return
        line = _LINE.match(text, started.end(), at + CHARS)
        end = line.end() if line else started.end()
        following = _NEXT.search(text, started.end(), end)
        self.done = following.start() if following else end
        for found in option.finditer(text, started.end(), self.done):
            kind = found.lastgroup or "bare"
            if is_secret(found[kind], Setting(type=names.PASSWORD, name="password", quoted=True)):
                yield Span(found.start(kind), found.end(kind), BY_PLACE, names.PASSWORD)


def _curl(text: str, start: int, done: int) -> tuple[list[Span], int]:
    spans = urls.curl_passwords(text, start, done)
    end = start
    while (cookies := urls.curl_cookies(text, end, done)) is not None:
        found, end = headers.cookie_pairs(text, cookies)
        spans += found
    return spans, max(done, end)
