"""aider: the Markdown chat history, where `#### ` is the user and `> ` the tool's output."""

from collections.abc import Iterator

from afterturn.replay.importers.assembly import Assembly, SessionAssembly, say
from afterturn.replay.importers.fields import epoch_ms
from afterturn.replay.json_values import TOO_LONG, decoded
from afterturn.replay.source import MAX_LINE_BYTES, Source
from afterturn.replay.stream import Call, Event, Turn

HARNESS = "aider"
_CHAT = "# aider chat started at "


def recognises_text(head: str) -> bool:
    """The only format that is no JSON."""
    return any(line.startswith(_CHAT) for line in head.split("\n", 50)[:50])


def read(source: Source) -> Iterator[Event]:
    """One session for each chat in the file.

    There are no calls in the format: each run of `> ` lines stands for one call of a tool named aider that answers
    the prose before it. A trailing blank pair of a Markdown line is no part of it.
    """
    assembly = Assembly(HARNESS, lambda: source.position)
    chat = _Chat(assembly, "")
    for offset, raw in source.lines():
        if raw is None:
            assembly.skip(TOO_LONG)
            continue
        line = decoded(raw).removesuffix("\n").removesuffix("\r")
        line = line.removeprefix("\ufeff") if offset == 0 else line
        if line.startswith(_CHAT):
            chat.end_of_run()
            chat = _Chat(assembly, line.removeprefix(_CHAT))
        else:
            chat.line(line)
        yield from assembly.ready()
    chat.end_of_run()
    yield from assembly.finish()


class _Chat:
    """One chat: lines of one kind are gathered until another kind begins."""

    __slots__ = ("_assembly", "_calls", "_kind", "_name", "_run", "_session", "_size", "_turn")

    def __init__(self, assembly: Assembly, name: str) -> None:
        self._assembly = assembly
        self._name = name
        self._session: SessionAssembly | None = None
        self._kind = "prose"
        self._run: list[str] = []
        self._size = 0
        self._turn: Turn | None = None
        self._calls = 0

    def line(self, line: str) -> None:
        kind = "user" if line.startswith("#### ") else "tool" if line.startswith("> ") or line == ">" else "prose"
        if kind != self._kind or self._size > MAX_LINE_BYTES:
            self.end_of_run()
            self._kind = kind
        if kind != "prose":
            line = line.removeprefix("####" if kind == "user" else ">").removeprefix(" ").removesuffix("  ")
        self._run.append(line)
        self._size += len(line)

    def end_of_run(self) -> None:
        words = "\n".join(self._run).strip("\n")
        self._run, self._size = [], 0
        if not words.strip() and self._kind == "prose":
            return
        session = self._session = self._session or self._begun()
        if self._kind == "user":
            session.user(words)
        elif self._kind == "tool":
            self._calls += 1
            turn = self._turn or session.turn()
            turn.calls.append(Call(f"run-{self._calls}", "aider", {}, words))
            self._turn = None
        else:
            self._turn = session.turn()
            say(self._turn, words)

    def _begun(self) -> SessionAssembly:
        session = self._assembly.next_session(f"aider {self._name}" if self._name else HARNESS)
        session.start.started = epoch_ms(self._name.strip())
        return session
