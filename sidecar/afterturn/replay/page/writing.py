"""The page, written piece by piece: the originals are never all in memory."""

import base64
import hashlib
import os
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from afterturn import __version__
from afterturn.replay.choosing import largest_files
from afterturn.replay.exhibits import LONGEST_ORIGINAL, Exhibits
from afterturn.replay.figures import FileFigures
from afterturn.replay.numbers import plural
from afterturn.replay.page.views import MOST_FILES, ORIGINALS_CHARS, exhibit_view, file_view, share, spend_note
from afterturn.replay.wording import in_line

_BEGIN = b"<!doctype html>"


class PageError(Exception):
    """A page cannot be written where it is to be: one line for people, with the path."""


class PageFile:
    """Where a page is to be: it is complete in the end, or what was there before.

    sources: the files that the page is about. Raises PageError, so that it is known before the work and not after it.
    """

    def __init__(self, target: Path, sources: Iterable[Path]) -> None:
        self._given = target
        self._target = Path(os.path.realpath(target))  # a link stays one
        self._draft = self._target.with_name(f".afterturn-{os.getpid()}.html")
        with self._told():
            self._spare(sources)
            self._draft.touch()
            self._draft.unlink()

    def write(self, found: Sequence[FileFigures], exhibits: Exhibits) -> None:
        """Write the page of these files. Raises PageError."""
        try:
            with self._told():
                with self._draft.open("w", encoding="utf-8", errors="replace") as out:
                    out.writelines(pieces(found, exhibits))
                self._draft.replace(self._target)
        finally:
            self._draft.unlink(missing_ok=True)

    def _spare(self, sources: Iterable[Path]) -> None:
        """Refuse a target that is no file, or one of the sources; an older page, found in a folder, is none."""
        if not self._target.exists():
            return
        if not self._target.is_file():
            raise PageError(f"{self._given}: is not a regular file")
        if any(_are_one(source, self._target) for source in sources) and not _is_page(self._target):
            raise PageError(f"{self._given}: is one of the files to be replayed; a page would take its place")

    @contextmanager
    def _told(self) -> Generator[None]:
        try:
            yield
        except OSError as problem:
            raise PageError(f"{self._given}: no page can be written there: {problem.strerror or problem}") from problem


def _are_one(source: Path, target: Path) -> bool:
    try:
        return source.samefile(target)  # also where names that differ in case are one
    except OSError:  # a source that is not there
        return False


def _is_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_BEGIN)) == _BEGIN


def pieces(found: Sequence[FileFigures], exhibits: Exhibits) -> Iterator[str]:
    """The page's text. Every value is escaped; only our own style and script are not."""
    css, js = _asset("page.css"), _asset("page.js")
    views = [file_view(each, number) for number, each in enumerate(largest_files(found, MOST_FILES))]
    return _template().generate(
        title=f"{views[0]['title'] if len(found) == 1 else plural(len(found), 'file')} - afterturn",
        files=views,
        files_note=_files_note(found),
        sessions=sum(len(each.sessions) for each in found),
        exhibits=_exhibit_views(exhibits),
        exhibits_count=len(exhibits),
        exhibits_note=_exhibits_note(exhibits),
        spend=spend_note(found),
        zone="/".join(dict.fromkeys(time.tzname)),
        version=__version__,
        css=Markup(css),
        js=Markup(js),
        css_hash=_hash(css),
        js_hash=_hash(js),
    )


def _files_note(found: Sequence[FileFigures]) -> str:
    if len(found) == 1:
        return in_line(Path(found[0].file).name)
    largest = f", of which the {MOST_FILES} with the largest tool results are shown" if len(found) > MOST_FILES else ""
    return plural(len(found), "file") + largest


def _exhibit_views(exhibits: Exhibits) -> Iterator[dict[str, Any]]:
    sizes = (len(original.text) for exhibit in exhibits for original in exhibit.originals)
    most = share(sizes, ORIGINALS_CHARS)
    for exhibit in exhibits:
        yield exhibit_view(exhibit, most)


def _exhibits_note(exhibits: Exhibits) -> str:
    shown, offered = len(exhibits), exhibits.offered
    which = f"The {shown:,} largest of {offered:,}" if shown < offered else plural(shown, "summary", "summaries")
    return f"{which}. Each original as the archive gives it back, at most {LONGEST_ORIGINAL:,} characters of it."


def _template() -> Any:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(_asset("page.html"))


def _asset(name: str) -> str:
    return files("afterturn.replay.page").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
