"""The web, data, plans, sub-agents, images, and tools that nobody has heard of."""

import pytest

from tests.condense.extract.saying import check, say

_PAGE = """\
# Scroll issues

The bug was fixed in PR #2388, part of 4.0.0.

## Workarounds

See https://example.com/issues/1343 and `lib/scroll.ts`.
"""


@pytest.mark.parametrize("tool", ["WebFetch", "web_fetch", "webfetch", "mcp__playwright__browser_navigate"])
def test_pages(tool: str) -> None:
    said = say(tool, {"url": "https://example.com/doc"}, _PAGE * 3)
    check(said, "https://example.com/doc", "Scroll issues", "Workarounds", "https://example.com/issues/1343")


def test_html() -> None:
    head = "<!DOCTYPE html><html><head><title>Kerx table</title></head>"
    text = head + "<body><h2>Subtable header</h2><a href='/docs/kern'>k</a></body></html>"
    check(say("fetch", {"url": "https://example.com"}, text * 4), "Kerx table", "Subtable header", "/docs/kern")


def test_search_on_the_web() -> None:
    links = 'Web search results for query: "x"\n\nLinks: [{"title":"A","url":"https://github.com/mirego/mix_audit"}]\n'
    text = links + "\nREMINDER: You MUST include the sources above.\n"
    check(
        say("WebSearch", {"query": "mix_audit setup"}, text * 2),
        "mix_audit setup",
        "https://github.com/mirego/mix_audit",
        lacks=["MUST"],
    )


def test_json() -> None:
    error = '"error": {"message": "quota exceeded", "code": 429}'
    text = '{"id": 731, "status": "failed", ' + error + ', "items": [{"path": "a/b.txt"}]}'
    check(
        say("mcp__jobs__get_job", {"id": 731}, text * 1 + " " * 400),
        "status failed",
        "quota exceeded",
        "429",
        "a/b.txt",
    )


def test_json_in_a_file_and_numbered() -> None:
    lines = [
        "{",
        '  "name": "assets",',
        '  "scripts": {"test": "vitest run"},',
        *[f'  "filler_{n}": [],' for n in range(20)],
        '  "version": "1.0.0"',
        "}",
    ]
    text = "".join(f"{n:6}→{line}\n" for n, line in enumerate(lines, 1))
    check(say("Read", {"file_path": "package.json"}, text), "name assets", "vitest run", "scripts")


def test_one_line_of_json_of_800_kb() -> None:
    text = "[" + ",".join(f'{{"id":{n},"path":"src/a{n}.py"}}' for n in range(26_000)) + "]"
    check(say("bash", {"command": "cat index.json"}, text), "src/a0.py")


def test_tables() -> None:
    text = "id,setup,punchline\n" + "".join(f"{n},why,because\n" for n in range(30))
    check(say("read", {"path": "jokes.csv"}, text), "id,setup,punchline", "(31 lines)")
    check(
        say("Read", {"path": "jokes.csv"}, "".join(f"{n}: {line}\n" for n, line in enumerate(text.splitlines(), 1))),
        "id,setup,punchline",
    )


def test_plans() -> None:
    first = '{"content": "write the parser", "status": "in_progress"}'
    todos = f'[{first}, {{"content": "read the spec", "status": "completed"}}]'
    check(say("todowrite", {"todos": []}, todos), "in_progress: write the parser", "completed: read the spec")
    check(
        say("TodoWrite", {"todos": []}, "Todos have been modified successfully."), "TodoWrite", "modified successfully"
    )


@pytest.mark.parametrize("tool", ["task", "Task", "Agent"])
def test_sub_agents(tool: str) -> None:
    text = (
        "Here is my report.\n\n## Findings\n\n- `lib/tmux.ex` runs tmux\n- `test/conn_case.ex` sets it up\n"
        "\nagentId: a7be2f0 (for resuming)\n" + "More words of it.\n" * 40
    )
    check(
        say(tool, {"description": "Explore Tmux", "prompt": "do it"}, text),
        "Explore Tmux",
        "Findings",
        "lib/tmux.ex",
        "a7be2f0",
    )


@pytest.mark.parametrize("text", ["[image]", "[Image: screenshot.png]", "data:image/png;base64," + "iVBORw0K" * 4000])
def test_images(text: str) -> None:
    said = say("read", {"path": "shot.png"}, text)
    check(said, "shot.png")
    assert len(said) < 200


@pytest.mark.parametrize(
    "noise",
    ["QUJDREVG" * 3000, "deadbeef" * 3000, "\x00\x01\x02\xff" * 3000, "a1b2c3d4e5 " * 2000, "\x1b[31m█\x1b[0m" * 2000],
)
def test_noise_is_not_repeated(noise: str) -> None:
    said = say("bash", {"command": "xxd firmware.bin"}, noise + "\nwrote firmware.bin in 3 parts\n")
    check(said, "xxd firmware.bin", "wrote firmware.bin in 3 parts")
    assert len(said) < 2700


def test_progress_bars_leave_their_last_state() -> None:
    text = "\r".join(f"Downloading {n}%" for n in range(0, 101, 5)) + "\nSaved model.bin to /data/model.bin\n"
    check(say("bash", {"command": "fetch-model"}, text), "/data/model.bin", lacks=["Downloading 5%"])


def test_an_unknown_tool_is_read_by_its_arguments_and_output() -> None:
    check(say("frobnicate", {"command": "make"}, "main.c:3:1: error: bad\n"), "make", "main.c:3:1")
    check(say("mcp__x__lookup", {"path": "src/a.py"}, "def alpha():\n    pass\n" * 20), "src/a.py", "alpha")
    check(say("mcp__notes__add", {"text": "hello"}, "Added."), "hello", "Added.")


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        (
            "open src/fields.py 1474",
            "[File: /repo/src/fields.py (1997 lines total)]\n1474:def to_time(x):\n1475:    return x\n"
            + "1476:    # more\n" * 9,
            "to_time 1474",
        ),
        (
            "search_dir run src",
            'Found 2 matches for "run" in /repo/src:\n/repo/src/a.py (2 matches)\n',
            "/repo/src/a.py",
        ),
        (
            "find_file fields.py",
            'Found 1 matches for "fields.py" in /repo:\n/repo/src/fields.py\n',
            "/repo/src/fields.py",
        ),
    ],
)
def test_a_command_language_of_its_own(command: str, text: str, expected: str) -> None:
    check(say("bash", {"command": command}, text), expected)


@pytest.mark.parametrize(
    "args",
    [
        None,
        [],
        {},
        "ls -la",
        '{"command": "ls -la"}',
        '{"broken',
        3,
        ["ls", "-la"],
        {"action": {"command": ["ls", "-la"]}},
    ],
)
def test_arguments_of_any_shape(args: object) -> None:
    check(say("shell", args, "a.txt\nb.txt\nc/d.txt\n"), "a.txt")


def test_what_later_calls_use_comes_first() -> None:
    text = "\n".join(f"def handler_number_{n}(event): return dispatch(event, {n})" for n in range(400))
    assert "handler_number_377" not in say("read", {"path": "big.py"}, text)
    check(say("read", {"path": "big.py"}, text, later=["edit handler_number_377 please"]), "handler_number_377")


def test_a_tool_that_could_not_do_it_says_so() -> None:
    text = (
        "I will download the file from the provided URL using `curl` and save it under that name, as you asked me to.\n"
        "I apologize, but I do not have the capability to directly download files from URLs and to save them.\n"
        + "x "
        * 90
    )
    said = say("web_fetch", {"prompt": "Download https://example.com/a and save it"}, text)
    check(said, "I do not have the capability to directly download files")
