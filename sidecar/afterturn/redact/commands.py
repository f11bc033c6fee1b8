"""Commands: what is secret in options that do not say so, `mysql -p…`, `curl -u user:…`, `redis-cli -a …`."""

import re
from collections.abc import Iterator

from msgspec import Struct

from afterturn.redact import headers, names, urls
from afterturn.redact.span import BY_PLACE, Span
from afterturn.redact.values import Setting, is_secret, is_stand_in

# How the options with a secret begin, behind their dash. A text without those of a command is not searched for it.
OPTION = re.compile(r"-(?<=\s-)([aNpPwkKbuU]|-(?:body|cookie|(?:proxy-)?user))")
# Chars from a command in which its options stand.
CHARS = 2048
# An option that begins within those may end so many chars behind them.
_OPTION_CHARS = 640
# What ends a command, and an escaped char, which does not: a line that ends in a backslash goes on.
_STOP = r"(?P<stop>\n|(?:&&|\|\|?|;)\s)|\\(?s:.)"
_LINE_STOP = r"(?P<stop>\n)|\\(?s:.)"


class Command(Struct, frozen=True):
    """A command.

    word: what is looked for, in lower case. options: how those of its options begin, as `OPTION` has it. program: where
    the command begins, at most 24 chars before the word. token: what counts behind it: the end of the command ("stop"),
    the next one ("program"), an option with a secret. type: what the marker says.
    """

    word: str
    options: frozenset[str]
    program: re.Pattern[str]
    token: re.Pattern[str]
    type: str = names.PASSWORD


def _value(user: str) -> str:
    """The value of an option. user: what stands before the secret in it."""
    return (
        rf"(?:\\{{0,3}}'{user}(?P<single>[^'\n\\]{{1,256}})\\{{0,3}}'"
        rf"|\\{{0,3}}\"{user}(?P<double>[^\"\n\\]{{1,256}})\\{{0,3}}\""
        rf"|{user}(?P<bare>(?![;&|<>)-])[^\s\"'\\]{{1,256}}+))"
    )


def _command(
    word: str, options: str, program: str, option: str, *, user: str = "", type: str = names.PASSWORD
) -> Command:
    program = rf"(?<![^\s\"'`/;|&(])(?:{program})(?=\s)"
    token = rf"{_STOP}|(?<= )(?:{option}){_value(user)}|(?P<program>{program})"
    return Command(word, frozenset(options.split()), re.compile(program), re.compile(token), type)


COMMANDS = (
    Command(
        "curl",
        frozenset(("b", "u", "U", "-cookie", "-user", "-proxy-user")),
        re.compile("(?i:curl)"),
        re.compile(rf"{_LINE_STOP}|{urls.USER_OPTION}|{urls.COOKIE_OPTION}|(?P<program>(?i:curl))"),
    ),
    _command("mysql", "p", r"mysql(?:dump|admin|import|show|check|pump|sh|binlog|slap)?(?:\.exe)?", r"-p(?!\d{1,5}:)"),
    _command("mariadb", "p", r"mariadb(?:-dump|-admin|-import|-show|-check|-binlog)?", r"-p(?!\d{1,5}:)"),
    _command("login", "p", r"(?:docker|podman|nerdctl|buildah|skopeo|crane|az|oc|cf|helm registry) login", r"-p[ =]?"),
    _command("ssh-keygen", "N P", r"ssh-keygen", r"-[NP] ?"),
    _command("redis-cli", "a", r"redis-cli", r"-a[ =]{1,4}"),
    _command("sqlcmd", "P", r"sqlcmd", r"-P ?"),
    _command("mongo", "p", r"mongo(?:sh|dump|restore|export|import)?", r"-p[ =]{1,4}"),
    _command("ldap", "w", r"ldap(?:search|add|modify|delete|whoami|compare|modrdn)", r"-w ?"),
    _command("7z", "p", r"7z[az]?", r"-p"),
    _command("zip", "P", r"(?:un)?zip", r"-P ?"),
    _command(
        "openssl",
        "k K",
        r"openssl (?:enc|(?:aes|aria|bf|camellia|cast|chacha|des|rc|seed|sm4)[\w-]{0,16})",
        r"-[kK] {1,4}",
    ),
    _command("gh secret", "b -body", r"gh secret set", r"(?:-b[ =]{0,4}|--body[ =]{1,4})", type=names.SECRET),
    _command("smbclient", "U -user", r"smbclient", r"(?:-U ?|--user[ =])", user=r"[^\s%\"']{1,64}%"),
)


class Progress(Struct):
    """How far a scan has come with one command, in chars: all before `done` is dealt with.

    until: where it lies behind that, options before it are still those of the last command.
    """

    done: int = 0
    until: int = 0


class Places:
    """Where the word of a command stands in a piece of text, in chars, the piece ending at `stop`."""

    def __init__(self, text: str, command: Command, places: list[int], stop: int, progress: Progress) -> None:
        self.text = text
        self.command = command
        self.places = places
        self.stop = stop
        self.progress = progress

    def secrets(self) -> Iterator[Span]:
        """The secrets in the options of the command."""
        progress = self.progress
        if progress.until > progress.done:
            yield from self.options(progress.done, progress.until)
        for at in self.places:
            if at < progress.done or progress.until > progress.done:
                continue
            started = self.command.program.search(self.text, max(0, at - 24), at + 24)
            if started and started.end() > at:
                yield from self.options(started.end(), started.end() + CHARS)

    def options(self, at: int, until: int) -> Iterator[Span]:
        """The secrets in the options from `at` to `until`; each option and each command lets the next stand further."""
        text, token = self.text, self.command.token
        while found := token.search(text, at, until + _OPTION_CHARS):
            kind = found.lastgroup
            if kind == "stop" or found.start() >= until:
                break
            if found.start() >= self.stop:
                self.progress.done, self.progress.until = at, until
                return
            at = found.end()
            if not kind:
                continue
            until = at + CHARS
            if kind == "cookie":
                spans, at = headers.cookie_pairs(text, at)
                yield from spans
            elif kind != "program" and _is_password(kind, found[kind]):
                type = "basic-auth" if kind == "user" else self.command.type
                yield Span(found.start(kind), found.end(kind), BY_PLACE, type)
        self.progress.done, self.progress.until = at, 0


def _is_password(kind: str, value: str) -> bool:
    if kind == "user":
        return not is_stand_in(value)
    return is_secret(value, Setting(type=names.PASSWORD, name="password", quoted=True))
