"""The HTML report in a real browser, wide and narrow, light and dark (clients.md, 'Harness importers').

What each page looks like is left below `.hosts/browser/seen` for a person to look at.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.replay.hostile import MARKUP, hostile
from tests.replay.sessions import replay

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
HOST = ROOT / ".hosts" / "browser"
SHIPPED = ROOT / "sidecar" / "afterturn" / "cli" / "demo_session" / "session.jsonl"
PHONE, LAPTOP = 360, 1280


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("pages")
    files = {"shipped": SHIPPED, "hostile": hostile().write(home / "hostile.jsonl")}
    made = {name: home / f"{name}.html" for name in files}
    for name, file in files.items():
        done = replay(home, file, "--html", made[name])
        assert (done.returncode, done.stderr) == (0, "")
    both = home / "both.html"
    assert replay(home, *files.values(), "--html", both).returncode == 0
    return {**made, "both": both}


def look(page: Path, width: int, scheme: str) -> dict[str, Any]:
    """What a person sees and does on the page."""
    seen = HOST / "seen"
    seen.mkdir(exist_ok=True)
    picture = seen / f"{page.stem}-{width}-{scheme}.png"
    node = shutil.which("node")
    assert node is not None
    done = subprocess.run(
        [node, str(HERE / "look.js"), str(page), str(width), scheme, str(picture)],
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "NODE_PATH": str(HOST / "node_modules")},
    )
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 10_000
    return json.loads(done.stdout)


def brightness(color: str) -> float:
    """Of a CSS colour, 0 to 255."""
    numbers = [float(part) for part in color.removeprefix("rgb(").rstrip(")").split(",")]
    return sum(numbers[:3]) / 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, LAPTOP])
@pytest.mark.parametrize("name", ["shipped", "hostile", "both"])
def test_a_page_as_a_person_sees_it(pages: dict[str, Path], name: str, width: int, scheme: str) -> None:
    seen = look(pages[name], width, scheme)
    assert (seen["console"], seen["errors"], seen["pwned"]) == ([], [], None)
    assert seen["requests"][0] == pages[name].as_uri()
    assert {request.partition("#")[0] for request in seen["requests"]} == {pages[name].as_uri()}, "nothing leaves"
    assert seen["widths"] == {"closed": width, "open": width}, "no scrolling to the side"
    light = brightness(seen["background"]) > brightness(seen["ink"])
    assert light == (scheme == "light")
    assert seen["tip"].startswith("turn ")
    assert "with afterturn" in seen["tip"]
    assert seen["nextTip"] != seen["tip"]
    assert (seen["focused"]["element"], seen["focused"]["outline"]) == ("chart", "solid 2px")
    assert seen["markName"].startswith("Recap ")
    assert seen["target"]
    assert (seen["hiddenBefore"], seen["shownAfter"]) == (True, True)
    assert "`t" in seen["kept"]
    assert seen["cutInPrint"] == 0, "paper does not scroll"


def test_expanding_a_summary_shows_the_original(pages: dict[str, Path]) -> None:
    seen = look(pages["hostile"], LAPTOP, "light")
    assert seen["summaries"] == 3
    assert MARKUP in seen["was"]
    assert "x0 line 199: checked src/x0/part_199.py" in seen["was"]
