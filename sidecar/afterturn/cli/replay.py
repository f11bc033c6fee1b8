"""`afterturn replay FILE...`: finished sessions of any harness through the real methods, and what came of it.

Every session goes to a real `afterturn --stdio` as its host would have sent it. Without --import nothing is kept: the
store lies in a folder that is gone at the end, or where the command was killed when the next one begins. Without
--model no network and no key is used.

Exit codes: 0 all was replayed; 2 a FILE holds no session that can be read (or a DIR holds none at all), each said in
one line; 1 anything else that failed; 130 and 143 when it was ended.
"""

import argparse
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import msgspec

from afterturn.cli.client import Client
from afterturn.cli.ending import ended_well
from afterturn.cli.place import told_settings
from afterturn.cli.workplace import workplace
from afterturn.replay.as_json import as_json
from afterturn.replay.choosing import best
from afterturn.replay.exhibits import Exhibits
from afterturn.replay.figures import FileFigures
from afterturn.replay.overview import Overview
from afterturn.replay.page import MOST_TRACES, PageError, PageFile
from afterturn.replay.progress import Bar, bar
from afterturn.replay.reading import UnreadableError, events, in_words
from afterturn.replay.runner import Replay
from afterturn.replay.server import away_ms, elsewhere, has_model, readable, replay_settings
from afterturn.replay.terminal import make_console, print_report
from afterturn.replay.wording import complaint
from afterturn.settings import ENVIRONMENT_NAME
from afterturn_protocol.settings import Settings


class Wanted(msgspec.Struct, frozen=True):
    """A file to replay. given: by name; one that was only found in a folder need not be a session.

    problem: why it cannot even be tried: it is a folder that cannot be looked into.
    """

    path: Path
    given: bool
    problem: str | None = None

    @property
    def size(self) -> int:
        """In bytes; 0 for what is not there."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def run(options: argparse.Namespace) -> int:
    """Replay every file; see the module for the exit codes."""
    settings = told_settings(os.environ)
    if options.model and not has_model(settings):
        sys.stderr.write("afterturn: no model is configured: set models.model (`afterturn doctor` says where)\n")
        return 1
    return ended_well(lambda: _replayed(options, settings))


def _replayed(options: argparse.Namespace, settings: Settings) -> int:
    wanted = list(files_of(options.paths))
    try:
        page = None if options.html is None else PageFile(Path(options.html), [each.path for each in wanted])
        with ExitStack() as open_things:
            return _Command(options, settings, wanted, page, open_things).run()
    except PageError as problem:
        sys.stderr.write(complaint(problem))
        return 1


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

    def __init__(
        self,
        options: argparse.Namespace,
        settings: Settings,
        wanted: Sequence[Wanted],
        page: PageFile | None,
        open_things: ExitStack,
    ) -> None:
        self._options = options
        self._open = open_things
        self._wanted = wanted
        self._page = page
        home = open_things.enter_context(workplace("replay"))
        spool = open_things.enter_context((home / "originals").open("w+b")) if page else None
        self._exhibits = None if spool is None else Exhibits(spool, readable(settings))
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
        if self._page is not None and self._exhibits is not None and self._for_page:
            self._page.write(self._for_page, self._exhibits)
        return 2 if refused or not replayed else 0

    def _found(self, wanted: Wanted, progress: Bar) -> FileFigures | None:
        """What came of one file; None where it cannot be read, which is said."""
        try:
            if wanted.problem is not None:
                raise UnreadableError(wanted.path, wanted.problem)
            read = events(wanted.path, on_bytes=progress.file(wanted.path.name, wanted.size))
            return self._replay.run(str(wanted.path), read)
        except UnreadableError as problem:
            with progress.hidden():
                sys.stderr.write(complaint(problem))
            return None

    def _make_replay(self, settings: Settings, home: Path) -> Replay:
        options = self._options
        raw = settings.store.raw and self._page is None  # a page shows what is archived, and others may see it
        own = replay_settings(settings, model=options.model, raw=raw, vectors=False)
        work = self._server({"AFTERTURN_HOME": str(home)}, elsewhere(own, str(home / "afterturn.db")))
        memory = work
        if options.keep:
            memory = self._server({}, replay_settings(settings, model=options.model, raw=raw, vectors=True))
        return Replay(
            work,
            memory,
            readable=readable(settings),
            away_ms=away_ms(settings),
            may_ask=options.model,
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
    for given in paths:
        path = Path(given)
        if not given:  # an unset variable of a shell, which as a path is this folder
            yield Wanted(Path("''"), given=True, problem="there is no such file")
        elif os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir it never fails
            yield from sorted(_below(path), key=lambda each: each.path)
        else:
            yield Wanted(path, given=True)


def _below(folder: Path) -> list[Wanted]:
    """The files below a folder, and what could not be looked into; no link to a folder is followed."""
    found: list[Wanted] = []

    def closed(problem: OSError) -> None:
        path = Path(problem.filename)
        found.append(Wanted(path, given=path == folder, problem=in_words(problem)))

    for below, _, names in os.walk(folder, onerror=closed):
        found += [Wanted(path, given=False) for path in (Path(below, name) for name in names) if _may_be_read(path)]
    return found


def _may_be_read(path: Path) -> bool:
    """Whether it is a file, or may be one: that it is closed to its reader is for the reading to say."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except PermissionError:
        return True
    except OSError:  # a link to nothing, a ring of links
        return False
