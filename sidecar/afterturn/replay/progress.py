"""A bar on stderr while files are read; nothing where stderr is no terminal."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from afterturn.replay.wording import in_line
from afterturn.text import cut_width

_NAME = 40


class Bar:
    """The bar. total: bytes of all files."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._task = None if progress is None else progress.add_task("", total=total)
        self._done = 0

    def file(self, name: str, size: int) -> Callable[[int], None]:
        """The next file begins; what to call with how many of its bytes are read."""
        before, self._done = self._done, self._done + size

        def read(count: int) -> None:
            if self._progress is not None and self._task is not None:
                self._progress.update(self._task, completed=before + count, description=cut_width(in_line(name), _NAME))

        return read

    @contextmanager
    def hidden(self) -> Generator[None]:
        """While something else is written to the same terminal."""
        if self._progress is None:
            yield
            return
        self._progress.stop()
        yield
        self._progress.start()


@contextmanager
def bar(total: int) -> Generator[Bar]:
    """A bar for so many bytes; it is gone at the end."""
    if sys.stderr is None or not sys.stderr.isatty():  # None: it is closed
        yield Bar(None, total)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress, total)
