"""Which extractor reads a call, and what its parts are taken for."""

from typing import Any

import pytest

from afterturn.condense.extract.call import read_call
from afterturn.condense.extract.command import main_pipelines
from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.lenses.hits import every_joined
from afterturn.condense.extract.names import by_score, count_tokens, looks_random, naming, paths_in, tokens
from afterturn.condense.extract.numbering import split_numbers
from afterturn.condense.extract.places import is_vendored, places_in, spans
from afterturn.condense.extract.registry import kind_of
from afterturn.condense.extract.shape import shape_of, shape_of_file
from afterturn.condense.extract.view import ToolView
from afterturn.condense.extract.weights import error_weight, is_total

# Tools of every harness; what they are called says what they are.
_KINDS = {
    "shell": "bash Bash shell exec_command local_shell run_shell_command execute_bash run_terminal_cmd write_stdin",
    "reads": "read Read read_file view open scroll_down read_many_files mcp__fs__read_text_file view_image",
    "search": "Grep grep search_file_content search_dir search_file codebase_search rg mcp__serena__search_for_pattern",
    "listing": "glob Glob list_directory list_dir ls find_file file_search",
    "edits": "edit Edit MultiEdit write Write write_file apply_patch replace NotebookEdit mcp__fs__edit_file",
    "web": "WebFetch webfetch web_fetch google_web_search web_search mcp__playwright__browser_click browser",
    "plans": "todowrite TodoWrite update_plan write_todos think ExitPlanMode TaskUpdate",
    "agents": "task Task Agent spawn_agent delegate_task AskUserQuestion skill",
}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for kind, names in _KINDS.items() for name in names.split()])
def test_kinds_by_name(name: str, kind: str) -> None:
    assert kind_of(read_call(ToolView(name, {}, ""))) == kind


@pytest.mark.parametrize(
    ("name", "args", "kind"),
    [
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "reads"),
        ("str_replace_editor", {"command": "create", "path": "a.py", "file_text": "x"}, "edits"),
        ("str_replace_editor", {"path": "a.py", "old_str": "x", "new_str": "y"}, "edits"),
        ("file_editor", {"path": "a.py"}, "reads"),
        ("bash", {"command": "search_dir spawn src"}, "search"),
        ("bash", {"command": "find_file main.py"}, "listing"),
        ("bash", {"command": "scroll_down"}, "reads"),
        ("shell", {"command": ["apply_patch", "*** Begin Patch"]}, "edits"),
        ("frob", {"old_string": "a", "new_string": "b"}, "edits"),
        ("frob", {"cmd": "ls"}, "shell"),
        ("frob", {"url": "https://a.b"}, "web"),
        ("frob", {"pattern": "x"}, "search"),
        ("frob", {"file_path": "a.py"}, "reads"),
        ("frob", {"file_path": "a.py", "content": "x"}, "edits"),
        ("frob", '{"command": "ls"}', "shell"),
        ("frob", {}, "plain"),
        ("frob", None, "plain"),
    ],
)
def test_kinds_by_arguments(name: str, args: Any, kind: str) -> None:
    assert kind_of(read_call(ToolView(name, args, ""))) == kind


@pytest.mark.parametrize(
    ("command", "pipelines"),
    [
        ("pytest -q tests", [[["pytest", "-q", "tests"]]]),
        ("cd /repo && FOO=1 sudo -n env make -j4", [[["make", "-j4"]]]),
        ("cd /repo", [[["cd", "/repo"]]]),
        ("uv run --frozen pytest | tail -5", [[["pytest"], ["tail", "-5"]]]),
        ("timeout 60 npx tsc --noEmit 2>&1; echo done", [[["tsc", "--noEmit"]]]),
        ("python3 -m pytest -x", [[["pytest", "-x"]]]),
        ("/usr/bin/git log", [[["git", "log"]]]),
        ("bash -lc 'cargo test --all'", [[["cargo", "test", "--all"]]]),
        ("grep 'a | b' x", [[["grep", "a | b", "x"]]]),
        ("echo 'open", [[["echo", "open"]]]),
        ("", []),
    ],
)
def test_commands(command: str, pipelines: list[list[list[str]]]) -> None:
    assert main_pipelines(command) == pipelines


_SHAPES = {
    "diff": "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n",
    "json": '{"a": [1, 2], "b": {}}',
    "jsonl": '{"a": 1}\n{"a": 2}\n{"a": 3}\n',
    "html": "<!DOCTYPE html><html><body>x</body></html>",
    "numbered": "     1\timport os\n     2\t\n     3\tdef run():\n",
    "hits": "src/a.py:3:def run():\nsrc/b.py:14:    run()\nsrc/c.py:9:run()\nsrc/b.py-15-    x\n",
    "paths": "src/a.py\nsrc/b.py\ndocs/c.md\n",
    "table": "id,name,size\n1,a,3\n2,b,4\n",
    "markdown": "# Title\n\nSome words.\n\n## Part\n\nMore words.\n",
    "code": "import os\n\ndef run():\n    return os.name\n",
    "plain": "It went well.\nNothing more to say about that.\n",
}


@pytest.mark.parametrize("shape", _SHAPES)
def test_shapes(shape: str) -> None:
    assert shape_of(_SHAPES[shape]) == shape


@pytest.mark.parametrize(
    ("path", "shape"),
    [("a/b.rs", "code"), ("R.md", "markdown"), ("build.log", "plain"), ("x.html", "html"), ("t.tsv", "table")],
)
def test_shapes_of_files(path: str, shape: str) -> None:
    assert shape_of_file(path, "one two three\n") == shape


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("src/a.py:12:5: bad\nsrc/a.py:40: bad", ["src/a.py:12:5, 40"]),
        ("src/a.ts(3,4): error TS1\nsrc/a.ts(9,1): error TS2", ["src/a.ts(3,4), (9,1)"]),
        ('File "/srv/app.py", line 7, in run', ["/srv/app.py line 7"]),
        ("in /srv/a.php on line 31", ["/srv/a.php line 31"]),
        ("  --> src/lib.rs:88:13", ["src/lib.rs:88:13"]),
        ("at Main.run(Main.java:41)", ["Main.java:41"]),
        ("src/\u4e3b.py:3: bad", ["src/\u4e3b.py:3"]),
        ("at 10:30:00 on https://a.example:8080/x version 1.2:3", []),
        ("total(2) and self.evalf(2)", []),
    ],
)
def test_places(text: str, places: list[str]) -> None:
    assert [place.written() for place in places_in(text).values()] == places


@pytest.mark.parametrize(
    ("path", "vendored"),
    [
        ("/x/lib/python3.11/site-packages/a.py", True),
        ("node_modules/a/b.js", True),
        ("node:internal/x", True),
        ("src/a.py", False),
    ],
)
def test_vendored(path: str, vendored: bool) -> None:
    assert is_vendored(path) is vendored


@pytest.mark.parametrize(
    ("numbers", "written"),
    [("1 2 3", "1 2 3"), ("1 2 3 4 9", "1-4 9"), ("7 9 10 11 12 13", "7 9-13"), ("3:1 4", "3:1 4"), ("", "")],
)
def test_spans(numbers: str, written: str) -> None:
    assert spans(numbers.split()) == written.split()


@pytest.mark.parametrize(
    ("lines", "numbers", "texts"),
    [
        (["  1\ta", "  2\t  b"], ["1", "2"], ["a", "  b"]),
        (["00001| a", "00002|   b"], ["00001", "00002"], ["a", "  b"]),
        (["1\u2192a", "2\u2192b", "3\u2192c", "(more)"], ["1", "2", "3", ""], ["a", "b", "c", "(more)"]),
        (["12:a", "13:b"], ["12", "13"], ["a", "b"]),
        (["9: a", "3: b"], None, ["9: a", "3: b"]),
        (["a", "b"], None, ["a", "b"]),
        ([], None, []),
    ],
)
def test_numbers_before_lines(lines: list[str], numbers: list[str] | None, texts: list[str]) -> None:
    found = split_numbers(lines)
    assert (found.numbers, found.texts) == (numbers, texts)


@pytest.mark.parametrize(
    ("word", "random"),
    [
        ("spawn_worker_process", False),
        ("getElementById", False),
        ("a1b2c3d4e5f6a7b8", True),
        ("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9abcdefg", True),
        ("sha256sum", False),
    ],
)
def test_random_words(word: str, random: bool) -> None:
    assert looks_random(word) is random


def test_names_by_rank() -> None:
    text = "def load_ledger(path): return parse(path)\nload_ledger(other)\nwordily amount\nsum = total_of(total_of(x))"
    scored = by_score(count_tokens(text), defined={"load_ledger"}, wanted={"amount"})
    ranked = list(naming(scored, {"parse"}))
    assert ranked[:3] == ["amount", "load_ledger", "total_of"]
    assert not {"parse", "return", "other"} & set(ranked[:3])
    assert ranked[-1] == "wordily"
    assert "return" not in ranked
    assert "parse" not in ranked


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("see src/app/main.py and ./run.sh.", ["src/app/main.py", "./run.sh"]),
        ("/etc/hosts ~/.ssh/config", ["/etc/hosts", "~/.ssh/config"]),
        ("and/or 3/4 // comment", []),
        ("src/a.py src/a.py", ["src/a.py"]),
    ],
)
def test_paths(line: str, paths: list[str]) -> None:
    assert list(paths_in(line)) == paths


@pytest.mark.parametrize(
    ("line", "plainly"),
    [
        ("error: cannot find value `x`", True),
        ("src/a.c:3:1: fatal error: x.h: No such file or directory", True),
        ("ModuleNotFoundError: No module named 'x'", True),
        ("sh: 1: frob: not found", True),
        ("0 errors, 0 warnings", False),
        ("    raise ValueError('error: bad')", False),
        ("src/errors/error_page.tsx", False),
        ("all went well", False),
    ],
)
def test_what_is_plainly_an_error(line: str, plainly: bool) -> None:
    assert (error_weight(line) == 4) is plainly


@pytest.mark.parametrize(
    ("line", "total"),
    [
        ("=== 2 failed, 31 passed in 4.10s ===", True),
        ("Ran 12 tests in 0.3s", True),
        ("test result: ok. 3 passed; 0 failed", True),
        ("Tests:       1 failed, 4 passed, 5 total", True),
        ("ok  \texample.org/a\t0.3s", True),
        ("Found 3 errors in 2 files", True),
        ("added 214 packages in 9s", True),
        ("3 files changed, 10 insertions(+)", True),
        ("the test passed its peak", False),
        ("okay then", False),
    ],
)
def test_what_is_a_total(line: str, total: bool) -> None:
    assert is_total(line) is total


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a1 load_x $ref9 \u4e2d\u6587name", ["a1", "load_x", "$ref9", "name"]),
        ("x.load(7)", ["x", "load", "7"]),
        ("\ud83d half", ["half"]),
        ("", []),
    ],
)
def test_tokens(text: str, found: list[str]) -> None:
    assert tokens(text) == found


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("an Error here\nnothing\nFAILED", [0, 2]),
        ("error\n" * 3, [0, 1, 2]),
        ("no\n" * 5 + "\u0130 error", [5]),
        ("", []),
    ],
)
def test_lines_with_a_word(text: str, held: list[int]) -> None:
    assert Lines(text).holding(("error", "fail")) == held


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 Failed: file not found.", [b"file", b"found", b"not"]),
        ("Cannot read it", [b"cannot"]),
        ("src/missing/x missing_part not-allowed", []),
        ("\u932f can't", [b"can"]),
        ("", []),
    ],
)
def test_words_that_are_looked_for(text: str, words: list[bytes]) -> None:
    assert sorted(Lines(text).words) == words


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("a/b.py:3:x\na/b.py:7:y: z\nlib/c d.js:1:", {"a/b.py": ["3", "7"], "lib/c d.js": ["1"]}),
        ("a/b.py:3:x\n", {"a/b.py": ["3"]}),
        ("a/b.py:3:x\nno hit", None),
        ("a/b.py:3:x\n\na/b.py:4:y", None),
        ("a/b.py:3-x", None),
        (" a/b.py:3:x", None),
        ("12:30:00 up", None),
        ('say "a/b":3:x', None),
        ("a/b.py:12345678:x", None),
        ("a/" * 121 + ":3:x", None),
        ("", None),
    ],
    ids=range(11),
)
def test_hits_that_are_all_of_one_form(text: str, files: dict[str, list[str]] | None) -> None:
    found = every_joined(text.split("\n"))
    assert (None if found is None else {path: list(numbers) for path, numbers in found.files.items()}) == files


def test_of_very_many_lines_both_ends_are_looked_at() -> None:
    held = Lines("error\nfine\n" * 5000).holding(("error",))
    assert held == [*range(0, 600, 2), *range(10_000 - 600, 10_000, 2)]


def test_a_line_start_is_looked_for_at_line_starts_only() -> None:
    assert Lines("ok 1\nnot ok\n ok\nok").holding(("\nok",)) == [0, 3]
