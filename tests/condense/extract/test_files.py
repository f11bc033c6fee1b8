"""Reading, searching, listing and changing files."""

import pytest

from tests.condense.extract.saying import check, say

_SOURCE = """\
import { spawn } from "node:child_process";
import { theme } from "../theme/theme.js";

export interface BashResult {
	exitCode: number;
}

const MAX_LINES = 2000;

export class BashRunner {
	private process: ChildProcess | null = null;

	async execute(command: string): Promise<BashResult> {
		return this.spawnShell(command);
	}

	private spawnShell(command: string): BashResult {
		const child = spawn("bash", [command]);
		return { exitCode: 0 };
	}
}

export function formatOutput(text: string): string {
	return text.trim();
}
"""


def _numbered(text: str, form: str) -> str:
    return "".join(form.format(n) + line + "\n" for n, line in enumerate(text.splitlines(), 1))


@pytest.mark.parametrize(
    "tool", ["read", "Read", "read_file", "view", "fs_read", "mcp__files__read_file", "functions.read_file"]
)
def test_source_of_any_tool(tool: str) -> None:
    said = say(tool, {"path": "src/bash.ts"}, _SOURCE)
    check(
        said,
        tool,
        "src/bash.ts",
        "BashRunner",
        "execute",
        "spawnShell",
        "formatOutput",
        "../theme/theme.js",
        "(25 lines)",
    )


@pytest.mark.parametrize("form", ["{:6}→", "{:05}| ", "{:6}\t", "{}: ", "{}:"])
def test_numbered_source_says_where(form: str) -> None:
    text = _numbered(_SOURCE, form)
    number = form.format(10).strip(" →|\t:")
    check(say("Read", {"file_path": "src/bash.ts"}, text), f"BashRunner {number}", "lines ")


@pytest.mark.parametrize(
    "command",
    [
        "cat src/bash.ts",
        "sed -n '1,40p' src/bash.ts",
        "cd /repo && head -50 src/bash.ts",
        "nl -ba src/bash.ts | sed -n '1,9p'",
    ],
)
def test_source_through_a_shell(command: str) -> None:
    check(say("bash", {"command": command}, _SOURCE), "BashRunner", "formatOutput", lacks=["errors:"])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "def alpha(x):\n    return x\n\n\nclass Beta:\n    def gamma(self):\n        pass\n" * 2,
            ["alpha", "Beta", "gamma"],
        ),
        (
            "static int\nload_frame(struct ctx *c)\n{\n}\n\nint save_frame(struct ctx *c) {\n  return 0;\n}\n" * 2,
            ["save_frame"],
        ),
        (
            "defmodule Shop.Cart do\n  def add_item(cart, item) do\n    cart\n  end\nend\n" * 2,
            ["Shop.Cart", "add_item"],
        ),
        (
            "pub struct Lexer {\n    pos: usize,\n}\n\nimpl Lexer {\n    pub fn next_token(&mut self) {}\n}\n" * 2,
            ["Lexer", "next_token"],
        ),
        (
            "package main\n\nfunc (s *Server) Serve(addr string) error {\n\treturn nil\n}\n\ntype Config struct {\n}\n"
            * 2,
            ["Serve", "Config"],
        ),
        (
            "# Title of it\n\nSome words.\n\n## Second part\n\nMore words about it.\n" * 2,
            ["Title of it", "Second part"],
        ),
        (".transcript-row {\n  color: red;\n}\n\n#main {\n  margin: 0;\n}\n" * 2, [".transcript-row", "#main"]),
        ("[server]\nport = 8080\nhost_name = 'a'\n\n[client]\nretries = 3\n" * 2, ["host_name"]),
        ("CREATE TABLE orders (\n  id INT\n);\nCREATE INDEX orders_by_day ON orders (day);\n" * 2, ["orders"]),
    ],
)
def test_what_languages_define(text: str, names: list[str]) -> None:
    check(say("read", {"path": "file.of.some.sort"}, text), *names)


_HITS = {
    "grep -rn": (
        "src/a.py:12:def run(self):\nsrc/a.py:40:    run()\nlib/b.py:3:import run\n",
        ["src/a.py:12, 40", "lib/b.py:3"],
    ),
    "grep -n of one file": ("12:def run(self):\n40:    run()\n", ["12", "40"]),
    "grep -n -C": ("10-x = 1\n11-y = 2\n12:def run(self):\n13-z = 3\n--\n40:    run()\n", ["lines 12, 40"]),
    "line after file": (
        "Found 3 matches\n/repo/src/a.py:\n  Line 12: def run(self):\n  Line 40:     run()\n",
        ["/repo/src/a.py: 12, 40"],
    ),
    "File: and L": (
        'Found 2 matches for pattern "run" in path ".":\n---\nFile: src/a.py\nL12: def run(self):\n---\n',
        ["src/a.py: 12"],
    ),
    "rg with headings": (
        "src/a.py\n12:def run(self):\n40:    run()\n\nlib/b.py\n3:import run\n",
        ["src/a.py: 12, 40", "lib/b.py: 3"],
    ),
    "without numbers": ("src/a.py:def run(self):\nlib/b.py:import run\n", ["src/a.py", "lib/b.py"]),
    "files only": ("src/a.py\nlib/b.py\nlib/c/d.py\n", ["src/a.py", "lib/b.py", "lib/c/d.py"]),
}


@pytest.mark.parametrize("name", _HITS)
@pytest.mark.parametrize("tool", ["grep", "Grep", "search_file_content"])
def test_search_results(tool: str, name: str) -> None:
    text, expected = _HITS[name]
    check(say(tool, {"pattern": "run", "path": "."}, text), *expected)


@pytest.mark.parametrize(
    "text", ["No files found", "No matches found", 'No matches found for pattern "x" in path ".".']
)
def test_nothing_found(text: str) -> None:
    check(say("Grep", {"pattern": "frobnicate"}, text), "frobnicate", "No ", lacks=["lines)", "no output"])


def test_code_that_was_searched_reports_no_errors() -> None:
    text = 'src/a.py:12:    raise ValueError("error: no such file")\nsrc/a.py:19:    print("FAILED")\n' * 2
    check(say("bash", {"command": "grep -rn error src"}, text), "src/a.py:12, 19", lacks=["errors:"])


def test_what_grep_complains_of_is_an_error() -> None:
    text = "src/a.py:12:x = 1\ngrep: lib/none.py: No such file or directory\n"
    check(
        say("bash", {"command": "grep -n x src/a.py lib/none.py"}, text), "grep: lib/none.py: No such file or directory"
    )


_LISTINGS = {
    "find": ("./src/main.ts\n./src/tui/footer.ts\n./README.md\n", ["./src/main.ts", "./src/tui/footer.ts"]),
    "ls -la": (
        "total 12\ndrwxr-xr-x 5 root root 840 Feb 10 17:24 .\n-rw-r--r-- 1 root root 3991 Feb 10 17:24 Changelog\n"
        "drwxr-xr-x 2 root root 80 Feb 10 17:24 doc\n",
        ["Changelog", "doc"],
    ),
    "ls in columns": (
        "AUTHORS.rst\t    LICENSE\nCHANGELOG.rst  setup.cfg  src/\n",
        ["AUTHORS.rst", "LICENSE", "setup.cfg", "src/"],
    ),
    "tree": ("├── src\n│   ├── main.c\n│   └── util.h\n└── Makefile\n", ["main.c", "util.h", "Makefile"]),
}


@pytest.mark.parametrize("name", _LISTINGS)
def test_listings(name: str) -> None:
    text, expected = _LISTINGS[name]
    check(say("bash", {"command": name.split(" in ")[0] + " ."}, text), *expected)
    check(say("LS", {"path": "/repo"}, text), "/repo", *expected)


def test_own_files_come_before_installed_ones() -> None:
    text = "".join(f"/repo/node_modules/pkg{n}/index.js\n" for n in range(200)) + "/repo/src/app.ts\n"
    check(say("Glob", {"pattern": "**/*.{js,ts}"}, text), "/repo/src/app.ts")


_EDITS = {
    "edit": (
        {"path": "src/a.ts", "oldText": "x", "newText": "y"},
        "Successfully replaced text in src/a.ts.",
        ["src/a.ts", "Successfully"],
    ),
    "apply_patch": (
        "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** Add File: lib/b.ts\n+z\n*** End Patch\n",
        "Success. Updated the following files:\nM src/a.ts\nA lib/b.ts\n",
        ["src/a.ts", "lib/b.ts"],
    ),
    "Edit": (
        {"file_path": "a.py", "old_string": "x", "new_string": "y"},
        "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>",
        ["a.py", "String to replace not found in file."],
    ),
    "str_replace_editor": (
        {"command": "str_replace", "path": "/w/a.c", "old_str": "x", "new_str": "y"},
        "The file /w/a.c has been edited.",
        ["/w/a.c"],
    ),
    "write": ({"path": "new.txt", "content": "a"}, "Wrote 1 bytes to new.txt", ["new.txt"]),
}


@pytest.mark.parametrize("tool", _EDITS)
def test_edits(tool: str) -> None:
    args, text, expected = _EDITS[tool]
    check(say(tool, args, text, is_error="error" in text), tool, *expected)


def test_diagnostics_beside_the_view_of_an_edit() -> None:
    text = (
        "Edit applied successfully.\n\nLSP errors detected in this file:\n<diagnostics>\n"
        + "ERROR [17:10] 'config.h' file not found\nERROR [29:38] Variable has incomplete type 'enum lex_format'\n"
        + "</diagnostics>\n"
        + "   12→  raise Error(1)\n" * 40
    )
    check(say("edit", {"filePath": "lex.c"}, text), "'config.h' file not found", "[29:38]", lacks=["raise Error"])


_DIFF = """\
commit 385f68f17cb62a8fced7c2dcf96389a34fefd9a4
Author: N <n@example.com>
Date:   Wed Jul 1 21:24:26 2020

    Fixed heap-buffer-overflow by bounds checking

diff --git a/blosc/blosc2.c b/blosc/blosc2.c
index 77070f80..fda00881 100644
--- a/blosc/blosc2.c
+++ b/blosc/blosc2.c
@@ -964,8 +964,8 @@ int pipeline_d(blosc2_context* context, const int32_t bsize)
-  if (error) return error_code;
+  if (leftover_block) return decompress_leftover(context);
diff --git a/tests/old.c b/tests/new.c
rename from tests/old.c
rename to tests/new.c
"""


@pytest.mark.parametrize("command", ["git show 385f68f1", "git diff HEAD~1", "git log -p -1"])
def test_diffs(command: str) -> None:
    said = say("bash", {"command": command}, _DIFF)
    check(
        said, "385f68f17cb62a8fced7c2dcf96389a34fefd9a4", "Fixed heap-buffer-overflow", "blosc/blosc2.c", "tests/new.c"
    )
    check(said, "@@ -964,8 +964,8 @@ int pipeline_d", lacks=["errors:"])


_GIT = {
    "git status": (
        "On branch main\nChanges not staged for commit:\n\tmodified:   src/a.py\n\tdeleted:    b.py\n",
        ["On branch main", "src/a.py", "b.py"],
    ),
    "git status --short": (" M src/a.py\n?? c.txt\n", ["src/a.py", "c.txt"]),
    "git log --oneline": (
        "8d6d2dd WP7: Add compaction\n94ff0b0 WP8: Add execution\n",
        ["8d6d2dd WP7: Add compaction", "94ff0b0"],
    ),
    "git commit -m x": (
        "[refactor 1a6a1a8] Split main into modules\n 8 files changed, 3324 insertions(+), 957 deletions(-)\n"
        " create mode 100644 cli/args.ts\n rename src/{ => core}/compaction.ts (97%)\n",
        [
            "[refactor 1a6a1a8] Split main into modules",
            "8 files changed, 3324 insertions(+)",
            "cli/args.ts",
            "src/{ => core}/compaction.ts",
        ],
    ),
    "git push": (
        "To https://example.com/a/b.git\n   98b484b..04ef02a  streaming -> streaming\n",
        ["98b484b..04ef02a streaming -> streaming"],
    ),
    "git diff --stat": (
        " src/a.py | 12 +++---\n lib/b.py |  3 +++\n 2 files changed, 9 insertions(+)\n",
        ["src/a.py", "lib/b.py", "2 files changed"],
    ),
    "git merge x": (
        "Auto-merging app/ai.ts\nCONFLICT (content): Merge conflict in app/ai.ts\n",
        ["CONFLICT (content): Merge conflict in app/ai.ts"],
    ),
}


@pytest.mark.parametrize("command", _GIT)
def test_git(command: str) -> None:
    text, expected = _GIT[command]
    check(say("Bash", {"command": command}, text), *expected)


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        (
            "mix deps.get",
            "New:\n  fine 0.1.4\n  lazy_html 0.1.10\nUnchanged:\n  ash 3.16.0\n",
            ["lazy_html 0.1.10", "fine 0.1.4"],
        ),
        (
            "pip install -e .",
            "Requirement already satisfied: pytest\nSuccessfully installed marshmallow-3.13.0\n",
            ["marshmallow-3.13.0"],
        ),
        ("npm install", "added 120 packages in 3s\nfound 0 vulnerabilities\n", ["added 120 packages"]),
        ("cargo add serde", "    Updating index\n      Adding serde v1.0.2\n", ["serde"]),
    ],
)
def test_package_managers(command: str, text: str, expected: list[str]) -> None:
    check(say("bash", {"command": command}, text), *expected)


def test_hits_in_many_files_name_every_file() -> None:
    folder = "/tmp/sb7e0NjT/cpp/src/arrow/"
    names = [f"part_{number}/builder_{number}.cc" for number in range(12)]
    text = "\n".join(
        f"{folder}{name}:\n"
        + "".join(f"  Line {line}: union_(fields, type_codes, mode);\n" for line in range(100, 120, 3))
        for name in names
    )
    check(say("grep", {"pattern": "union_", "path": folder}, text), folder + names[0], *names[1:], "100, 103")


def test_a_count_beside_hits_does_not_hide_them() -> None:
    hits = "".join(f"{line}:\tprivate handle{line}(): void {{\n" for line in range(100, 160, 2))
    text = "    2376 src/renderer.ts\n" + hits
    said = say("bash", {"command": "wc -l src/renderer.ts && grep -n handle src/renderer.ts"}, text)
    check(said, "lines 100, 102, 104")


def test_many_hits_of_one_file() -> None:
    text = "".join(f"src/a.py:{line}:    value = load({line})\n" for line in range(1, 400, 2))
    check(say("grep", {"pattern": "load"}, text), "src/a.py:1, 3, 5")
