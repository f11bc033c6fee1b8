"""What `afterturn demo` tells to paste."""

import json
import shlex
from pathlib import Path

import pytest

from afterturn.cli.demo import how_to_go_on

ODD = '/home/J\u00f6rg [x]/my tools/it\'s "here"/afterturn'


@pytest.mark.parametrize("path", ["/opt/afterturn", ODD], ids=["plain", "odd"])
def test_lines_hold_whatever_path_there_is(path: str) -> None:
    lines = how_to_go_on([path], f"{path}/pi", Path(path))
    shell = [shlex.split(line) for line in lines if line.startswith(("    make", "    pi", "    export"))]
    assert shell == [
        ["make", "-C", path, "setup"],
        ["pi", "install", f"{path}/pi"],
        ["export", f"AFTERTURN_PATH={path}"],
    ]
    (replay,) = [line for line in lines if " replay " in line]
    assert shlex.split(replay) == [path, "replay", "~/.claude/projects"], "it need not be on PATH"
    assert json.loads(lines[-1]) == {"command": path, "args": ["--stdio"]}
    (lua,) = [line for line in lines if "vim.lsp.config" in line]
    quoted = path.replace('"', '\\"')
    assert f'cmd = {{"{quoted}", "--stdio"}} }}' in lua


def test_a_command_of_several_words_is_no_path() -> None:
    lines = how_to_go_on(["/usr/bin/python3", "-m", "afterturn"], "npm:afterturn-pi")
    assert not [line for line in lines if "AFTERTURN_PATH" in line or "make" in line]
    assert json.loads(lines[-1]) == {"command": "/usr/bin/python3", "args": ["-m", "afterturn", "--stdio"]}
