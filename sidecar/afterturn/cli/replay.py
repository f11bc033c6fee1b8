"""`afterturn replay FILE...`: finished sessions of any harness through the real methods, and what came of it.

Every session goes to a real `afterturn --stdio` as its host would have sent it. Without --import nothing is kept: the
store lies in a folder that is gone at the end, however that comes. Without --model no network and no key is used.

Exit codes: 0 all was replayed; 2 a FILE holds no session that can be read (or a DIR holds none at all), each said in
one line; 1 anything else that failed; 130 and 143 when it was ended.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Never, Protocol

import msgspec

from afterturn.cli.client import Client
from afterturn.cli.place import file_settings
from afterturn.redact import Redactor
from afterturn.replay.as_json import as_json
from afterturn.replay.choosing import best
from afterturn.replay.exhibits import Exhibits
from afterturn.replay.figures import FileFigures
from afterturn.replay.overview import Overview
from afterturn.replay.page import MOST_TRACES, write_page
from afterturn.replay.progress import Bar, bar
from afterturn.replay.reading import UnreadableError, events
from afterturn.replay.runner import Replay
from afterturn.replay.server import ServerFailed, elsewhere, has_model, replay_settings
from afterturn.replay.terminal import make_console, print_report
from afterturn.settings import ENVIRONMENT_NAME
from afterturn_protocol.settings import Settings


class Wanted(msgspec.Struct, frozen=True):
    """A file to replay. given: by name; one that was only found in a folder need not be a session."""

    path: Path
    given: bool

    @property
    def size(self) -> int:
        """In bytes; 0 for what is not there."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def run(options: argparse.Namespace) -> int:
    """Replay every file; see the module for the exit codes."""
    settings = file_settings(os.environ)
    if options.model and not has_model(settings):
        sys.stderr.write("afterturn: no model is configured: set models.model (`afterturn doctor` says where)\n")
        return 1
    if options.html and not os.access(Path(options.html).absolute().parent, os.W_OK):
        sys.stderr.write(f"afterturn: {options.html}: there is no such folder, or you may not write to it\n")
        return 1
    try:
        with ended_by_signals(), ExitStack() as open_things:
            return _Command(options, settings, open_things).run()
    except ServerFailed as problem:
        sys.stderr.write(f"afterturn: {problem}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nafterturn: stopped\n")
        return 130


@contextmanager
def ended_by_signals() -> Generator[None]:
    """SIGTERM and SIGHUP end the work as Ctrl+C does, so that what is temporary goes and no child stays."""

    def end(number: int, frame: object) -> Never:
        for each in before:
            signal.signal(each, signal.SIG_IGN)  # cleaning up is not to be cut short
        sys.exit(128 + number)

    heard = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) is not signal.SIG_IGN]  # nohup
    before = {number: signal.signal(number, end) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Output(Protocol):
    """Where reports go, one file after the other."""

    def file(self, found: FileFigures) -> None:
        """A file was replayed."""
        ...

    def end(self) -> None:
        """That was the last one."""
        ...


class _JsonLines:
    """One JSON object a line for each file, whether there is one or many."""

    def file(self, found: FileFigures) -> None:
        sys.stdout.write(json.dumps(as_json(found), ensure_ascii=False) + "\n")
        sys.stdout.flush()

    def end(self) -> None:
        pass


class _Report:
    """All about the one file."""

    def file(self, found: FileFigures) -> None:
        print_report(make_console(), found)

    def end(self) -> None:
        pass


class _Command:
    """One run of the command. open_things: closed at its end, whatever ends it."""

    def __init__(self, options: argparse.Namespace, settings: Settings, open_things: ExitStack) -> None:
        self._options = options
        self._open = open_things
        self._wanted = list(files_of(options.paths))
        home = Path(open_things.enter_context(tempfile.TemporaryDirectory(prefix="afterturn-replay-")))
        spool = open_things.enter_context((home / "originals").open("w+b")) if options.html else None
        self._exhibits = None if spool is None else Exhibits(spool)
        self._replay = self._make_replay(settings, home)
        self._alone = len(self._wanted) == 1 and self._wanted[0].given
        report: Output = _Report() if self._alone else Overview(make_console())
        self._output = _JsonLines() if options.json else report
        self._for_page: list[FileFigures] = []

    def run(self) -> int:
        """Every file, and the page; the exit code."""
        refused = replayed = 0
        with bar(sum(each.size for each in self._wanted)) as progress:
            for each in self._wanted:
                found = self._found(each, progress)
                if found is None:
                    refused += each.given
                    continue
                replayed += 1
                with progress.hidden():
                    self._output.file(found)
                if self._exhibits is not None:
                    self._for_page.append(held_for_page(found))
                if each is not self._wanted[-1]:
                    self._replay.forget(found)
        self._output.end()
        if not replayed and not refused:
            sys.stderr.write("afterturn: there is no session in any of the files\n")
        if self._exhibits is not None and self._for_page:
            write_page(Path(self._options.html), self._for_page, self._exhibits)
        return 2 if refused or not replayed else 0

    def _found(self, wanted: Wanted, progress: Bar) -> FileFigures | None:
        """What came of one file; None where it cannot be read, which is said."""
        try:
            read = events(wanted.path, on_bytes=progress.file(wanted.path.name, wanted.size))
            found = self._replay.run(str(wanted.path), read)
        except UnreadableError as problem:
            with progress.hidden():
                sys.stderr.write(f"afterturn: {problem}\n")
            return None
        return found

    def _make_replay(self, settings: Settings, home: Path) -> Replay:
        options, rules = self._options, settings.redaction
        redactor = Redactor(rules.extra_patterns)
        raw = settings.store.raw and not options.html  # a page shows what is archived, and others may see it
        own = replay_settings(settings, model=options.model, raw=raw, vectors=False)
        work = self._server({"AFTERTURN_HOME": str(home)}, elsewhere(own, str(home / "afterturn.db")))
        memory = work
        if options.keep:
            memory = self._server({}, replay_settings(settings, model=options.model, raw=raw, vectors=True))
        return Replay(
            work,
            memory,
            redact=(lambda text: redactor.redact(text)[0]) if rules.enabled else str,
            away_seconds=settings.recap.away_seconds,
            exhibits=self._exhibits,
        )

    def _server(self, environment: dict[str, str], settings: dict[str, Any]) -> Client:
        return self._open.enter_context(Client({**environment, ENVIRONMENT_NAME: json.dumps(settings)}))


def held_for_page(found: FileFigures) -> FileFigures:
    """With no more traces than a page shows: a folder may hold thousands of sessions."""
    shown = best(found.traces)[:MOST_TRACES]
    found.more_traces, found.traces = len(found.traces) - len(shown), shown
    return found


def files_of(paths: Iterable[str]) -> Iterator[Wanted]:
    """The files meant: each as it is given, and every file below a folder, in order of their names."""
    for path in map(Path, paths):
        if not path.is_dir():
            yield Wanted(path, given=True)
            continue
        for below in sorted(path.rglob("*")):
            if below.is_file():
                yield Wanted(below, given=False)
