"""The page: everything escaped, nothing from outside, and no larger than it may be."""

import base64
import errno
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.replay.exhibits import Exhibits, Scene
from afterturn.replay.figures import Curve, FileFigures, Point, SessionFigures, ToolFigures
from afterturn.replay.page import PageError, PageFile, writing
from afterturn.replay.page.views import MOST_POINTS, file_view, share, thinned
from afterturn.replay.page.writing import pieces
from afterturn.replay.wording import at_home
from tests.replay.hostile import hostile
from tests.replay.sessions import PiSession, log, replay


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


@pytest.mark.parametrize(
    ("count", "names"),
    [
        (0, ["refs that bring originals back", "recaps", "traces"]),
        (1, ["ref that brings its original back", "recaps", "trace"]),
        (1200, ["refs that bring originals back", "recaps", "traces"]),
    ],
)
def test_a_count_and_its_noun(count: int, names: list[str]) -> None:
    session = SessionFigures(
        session_id="s", title=None, cwd=None, model=None, parent_id=None, refs=count, curve=Curve()
    )
    tiles = file_view(FileFigures(file="f", sessions=[session], more_traces=count), 0)["tiles"][-3:]
    assert [(tile["name"], tile["value"]) for tile in tiles] == [
        (name, f"{value:,}") for name, value in zip(names, (count, 0, count), strict=True)
    ]


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
        exhibits = Exhibits(spool, str)
        for number in range(305):
            size = 10 + number if number < 10 else 20_000
            server.text = "o" * size
            exhibits.offer(server, "s", [Scene("s", number, 0, "asked")], summarized(number, size))
        text = "".join(pieces([FileFigures(file="f", harness="pi", sessions=[session])], exhibits))
        shown = [exhibit.turn for exhibit in exhibits]
    assert text.count("<details>") == 300
    assert "The 300 largest of 305." in text
    assert text.count("brings all of it back.") == 295
    assert 3_900_000 < len(text) < 4_500_000
    assert shown == list(range(5, 305))


def test_a_folder_of_thousands_is_no_page_of_thousands(tmp_path: Path) -> None:
    found = [
        FileFigures(
            file=f"{number}.jsonl",
            harness="pi",
            sessions=[SessionFigures(session_id="s", title=None, cwd=None, model=None, parent_id=None, curve=Curve())],
            tools={"read": ToolFigures(1, 0, number, number)},
        )
        for number in range(1_200)
    ]
    with (tmp_path / "spool").open("w+b") as spool:
        text = "".join(pieces(found, Exhibits(spool, str)))
    assert text.count("<header>") == 100
    assert ("<h1>1199.jsonl</h1>" in text, "<h1>1099.jsonl</h1>" in text) == (True, False)
    assert "from 1,200 files, of which the 100 with the largest tool results are shown." in text
    assert "<title>1,200 files - afterturn</title>" in text


def test_summaries_of_several_sessions_stand_below_their_names(tmp_path: Path) -> None:
    files = [PiSession(name).user(f"Ask {name}") for name in ("one", "two")]
    for session, name in zip(files, ("one", "two"), strict=True):
        session.calls(("read", {"path": "a"}, log(name))).says("Done").write(tmp_path / f"{name}.jsonl")
    for names, headings in ((("one", "two"), ["Ask one", "Ask two"]), (("one",), [])):
        given = [tmp_path / f"{name}.jsonl" for name in names]
        assert replay(tmp_path, *given, "--html", tmp_path / "o.html").returncode == 0
        summaries = (tmp_path / "o.html").read_text("utf-8").partition("Summaries, each beside its original")[2]
        assert re.findall("<h2>(.*?)</h2>", summaries) == headings


def test_a_summary_of_several_turns_says_which(tmp_path: Path) -> None:
    session = PiSession().user("Do it")
    for name in "ab":
        session.calls(("read", {"path": name}, log(name)))
    file = session.says("Done").write(tmp_path / "s.jsonl")
    for mode, said in (("turn", ["turn 1,", "turn 2,"]), ("agent-message", ["turns 1 to 2,"])):
        settings = json.dumps({"condense": {"batchingMode": mode}})
        done = replay(tmp_path, file, "--html", tmp_path / "o.html", AFTERTURN_SETTINGS=settings)
        assert done.returncode == 0
        page = (tmp_path / "o.html").read_text("utf-8")
        assert re.findall(r'<span class="what">(turns? [^,]*,)', page) == said


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


def test_a_disk_that_fills_up_costs_no_older_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Iterator[str]:
        yield "<!doctype html>"
        raise OSError(errno.ENOSPC, "No space left on device")

    page = tmp_path / "o.html"
    page.write_text("<!doctype html>older", "utf-8")
    monkeypatch.setattr(writing, "pieces", full)
    file = PageFile(page, [])
    with (tmp_path / "spool").open("w+b") as spool, pytest.raises(PageError) as said:
        file.write([], Exhibits(spool, str))
    assert str(said.value) == f"{page}: no page can be written there: No space left on device"
    assert page.read_text("utf-8") == "<!doctype html>older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.html", "spool"]


COLORS = ("paper", "card", "ink", "soft", "before-fill", "after-fill", "mark", "bad")


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground"),
    [
        ("ink", "paper"),
        ("ink", "card"),
        ("soft", "paper"),
        ("soft", "card"),
        ("mark", "paper"),
        ("bad", "paper"),
        ("ink", "before-fill"),
        ("ink", "after-fill"),
    ],
)
def test_texts_can_be_read_on_what_they_stand_on(text: str, ground: str, scheme: int) -> None:
    """WCAG 2, AA. The axis stands on the chart's areas."""
    css = files("afterturn.replay.page").joinpath("page.css").read_text("utf-8")
    values = {name: re.findall(rf"--{name}: (#[0-9a-f]{{6}})", css)[scheme] for name in COLORS}
    assert ".axis { fill: var(--ink);" in css
    low, high = sorted(luminance(values[name]) for name in (text, ground))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


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
