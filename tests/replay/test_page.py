"""The page: everything escaped, nothing from outside, and no larger than it may be."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.replay.exhibits import Exhibits, Scene
from afterturn.replay.figures import Curve, FileFigures, Point, SessionFigures
from afterturn.replay.page.views import MOST_POINTS, share, thinned
from afterturn.replay.page.writing import pieces
from afterturn.replay.wording import at_home
from tests.replay.hostile import hostile
from tests.replay.sessions import replay


class Tags(HTMLParser):
    """The elements of a page, each with its attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_data(self, data: str) -> None:
        if self._open in ("script", "style"):
            self.inside[self._open] = self.inside.get(self._open, "") + data
            self._open = ""

    def names(self) -> set[str]:
        return {tag for tag, _ in self.elements}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    home = tmp_path_factory.mktemp("page")
    file = hostile().write(home / "s.jsonl")
    done = replay(home, file, "--html", home / "o.html")
    assert (done.returncode, done.stderr) == (0, "")
    return (home / "o.html").read_text("utf-8")


def test_markup_of_the_session_is_text(page: str) -> None:
    tags = Tags(page)
    assert sum(tag == "script" for tag, _ in tags.elements) == 1
    assert not tags.names() & {"img", "iframe", "object", "embed", "form", "base"}
    assert not [name for _, attributes in tags.elements for name in attributes if name.startswith("on")]
    assert "<script>window" not in page
    assert "window.pwned" in page, "it is shown all the same"
    assert "{{ 7 * 7 }}" in page


def test_nothing_comes_from_outside(page: str) -> None:
    for tag, attributes in Tags(page).elements:
        for name in ("src", "href", "action", "data", "poster", "srcset", "style"):
            value = attributes.get(name)
            assert value is None or value.startswith("#") or value == "data:,", f"<{tag} {name}={value}>"


def test_the_policy_names_just_the_style_and_the_script_that_are_there(page: str) -> None:
    tags = Tags(page)
    (policy,) = [a["content"] for _, a in tags.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for element in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(tags.inside[element].encode()).digest()).decode()
        assert rules[f"{element}-src"] == f"'sha256-{digest}'"


def test_every_summary_stands_beside_its_original(page: str) -> None:
    assert page.count("<details>") == 3
    for number in range(3):
        assert f"x{number} line 199: checked" in page
    assert page.count('<span class="ref">t') == 3
    assert re.search(r"turn \d+ *", page)


def test_originals_share_the_room_there_is(tmp_path: Path) -> None:
    """Of 305 summaries the 300 largest are shown; the small ones whole, the others as far as there is room."""
    server = Archive()
    session = SessionFigures(session_id="s", title=None, cwd=None, model=None, parent_id=None, curve=Curve())
    with (tmp_path / "spool").open("w+b") as spool:
        exhibits = Exhibits(spool)
        for number in range(305):
            size = 10 + number if number < 10 else 20_000
            server.text = "o" * size
            exhibits.offer(server, "s", [Scene(number, 0, "asked")], summarized(number, size))
        text = "".join(pieces([FileFigures(file="f", harness="pi", sessions=[session])], exhibits))
        shown = [exhibit.turn for exhibit in exhibits]
    assert text.count("<details>") == 300
    assert "The 300 largest of 305." in text
    assert text.count("brings all of it back.") == 295
    assert 3_900_000 < len(text) < 4_500_000
    assert shown == list(range(5, 305))


class Archive:
    """A server that gives back whatever is asked for, the same text each time."""

    text = ""

    def ask(self, method: str, params: Any) -> Any:
        assert (method, params["refs"]) == ("condense/resolveRef", ["t1"])
        record = {"shortId": "t1", "toolName": "read", "args": {"path": "a"}, "isError": False}
        return {"records": [{**record, "text": self.text, "totalChars": len(self.text)}]}

    def notify(self, method: str, params: Any) -> None:
        raise AssertionError(method)

    def event(self, seconds: float) -> None:
        raise AssertionError


def summarized(turn: int, size: int) -> dict[str, Any]:
    items = [{"shortId": "t1", "turnIndex": turn, "replacement": "short"}]
    return {"rawChars": size, "summaryText": f"summary {turn}", "items": items}


@pytest.mark.parametrize(
    ("sizes", "room", "most"),
    [
        ([], 10, 0),
        ([5, 5], 10, 5),
        ([5, 6], 10, 5),
        ([1, 20, 20], 11, 5),
        ([3, 3, 3], 100, 3),
        ([8], 3, 3),
    ],
)
def test_share(sizes: list[int], room: int, most: int) -> None:
    assert share(sizes, room) == most


@given(st.lists(st.integers(0, 1000), max_size=50), st.integers(0, 5000))
def test_a_share_never_takes_more_than_there_is(sizes: list[int], room: int) -> None:
    most = share(sizes, room)
    assert sum(min(size, most) for size in sizes) <= room
    assert most >= max(sizes, default=0) or sum(min(size, most + 1) for size in sizes) > room


@given(st.lists(st.integers(0, 10**9), max_size=2000))
def test_thinned(sizes: list[int]) -> None:
    curve = Curve()
    for turn, size in enumerate(sizes):
        curve.add(Point(turn, 0, size, 0))
    points = thinned(curve)
    assert len(points) <= MOST_POINTS
    assert [point.turn for point in points] == sorted({point.turn for point in points})
    assert max((point.before for point in points), default=0) == max(sizes, default=0)


@pytest.mark.parametrize(
    ("path", "shown"),
    [("/home/me", "~"), ("/home/me/a", "~/a"), ("/home/mean", "/home/mean"), ("C:\\x", "C:\\x"), ("", "")],
)
def test_a_page_does_not_name_its_maker(path: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert at_home(path) == shown
