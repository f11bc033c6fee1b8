"""spec/requirements.json and the tests, checked both ways: no promise without a test, no mark without a promise.

A test names what it holds the server to with `@pytest.mark.req("framing.malformed-json")` (or `pytest.param(...,
marks=pytest.mark.req(...))`); a scripted conversation does so with `req` on its first line. The tests are read, not
imported, so that this works whatever is collected.
"""

import ast
import json
import re
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
SPEC = TESTS.parent / "spec"
REQUIREMENTS: list[dict[str, Any]] = json.loads((SPEC / "requirements.json").read_text(encoding="utf-8"))


def marked(source: str) -> set[str]:
    """The ids that `mark.req(...)` calls in a Python source name."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return {
        argument.value
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "req"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


def named() -> dict[str, list[str]]:
    """For each id that is named anywhere, the files that name it."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for id in marked(path.read_text(encoding="utf-8")):
            found.setdefault(id, []).append(path.name)
    for path in sorted(SPEC.glob("conversations/*.jsonl")):
        for id in json.loads(path.read_text(encoding="utf-8").partition("\n")[0]).get("req", []):
            found.setdefault(id, []).append(path.name)
    return found


def test_every_mark_names_a_requirement() -> None:
    ids = {requirement["id"] for requirement in REQUIREMENTS}
    assert {id: files for id, files in named().items() if id not in ids} == {}


def test_every_promise_that_is_kept_now_has_a_test() -> None:
    names = named()
    assert [r["id"] for r in REQUIREMENTS if r["status"] == "now" and r["id"] not in names] == []


def test_requirements_are_well_formed() -> None:
    ids = [requirement["id"] for requirement in REQUIREMENTS]
    assert len(ids) == len(set(ids))
    for requirement in REQUIREMENTS:
        assert requirement.keys() == {"id", "statement", "source", "status"}
        assert re.fullmatch(r"[a-z]+(\.[a-z0-9]+(-[a-z0-9]+)*)", requirement["id"])
        assert requirement["statement"].endswith(".")
        assert requirement["source"]
        assert requirement["status"] in ("now", "later")


def test_marks_are_found_wherever_they_stand() -> None:
    source = """
@pytest.mark.req("a.one")
@pytest.mark.req("a.two", "a.three")
def test_x(): ...
CASES = [pytest.param(1, marks=pytest.mark.req("a.four")), pytest.param(2, marks=[mark.req("a.five"), other("no")])]
pytestmark = pytest.mark.req("a.six")
text = 'mark.req("a.seven")'
"""
    assert marked(source) == {"a.one", "a.two", "a.three", "a.four", "a.five", "a.six"}
