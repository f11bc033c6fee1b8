"""The page, written piece by piece: the originals are never all in memory."""

import base64
import hashlib
import os
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from afterturn import __version__
from afterturn.replay.exhibits import LONGEST_ORIGINAL, Exhibits
from afterturn.replay.figures import FileFigures
from afterturn.replay.numbers import plural
from afterturn.replay.page.views import ORIGINALS_CHARS, exhibit_view, file_view, share, spend_note


def write_page(target: Path, found: Sequence[FileFigures], exhibits: Exhibits) -> None:
    """Write the page of these files. It is complete or not there. Raises OSError."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8", errors="replace") as out:
            out.writelines(pieces(found, exhibits))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def pieces(found: Sequence[FileFigures], exhibits: Exhibits) -> Iterator[str]:
    """The page's text. Every value is escaped; only our own style and script are not."""
    css, js = _asset("page.css"), _asset("page.js")
    views = [file_view(each, number) for number, each in enumerate(found)]
    return _template().generate(
        title=f"{views[0]['title']} - afterturn" if len(views) == 1 else f"{len(views)} sessions - afterturn",
        files=views,
        files_note=Path(found[0].file).name if len(found) == 1 else plural(len(found), "file"),
        exhibits=_exhibit_views(exhibits),
        exhibits_count=len(exhibits),
        exhibits_note=_exhibits_note(exhibits),
        spend=spend_note(found),
        version=__version__,
        css=Markup(css),
        js=Markup(js),
        css_hash=_hash(css),
        js_hash=_hash(js),
    )


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
