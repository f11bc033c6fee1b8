"""Test runners, compilers, linters: totals, failures, places."""

import pytest

from tests.condense.extract.saying import check, say

_PYTEST = """\
============================= test session starts ==============================
collected 15 items

tests/test_auth.py ...F.........F.                                       [100%]

=================================== FAILURES ===================================
______________________________ test_token_expiry _______________________________

    def test_token_expiry():
>       assert decode(token).exp == 1700000000
E       AssertionError: assert 1699999999 == 1700000000

tests/test_auth.py:42: AssertionError
=========================== short test summary info ============================
FAILED tests/test_auth.py::test_token_expiry - AssertionError: assert 1699999...
FAILED tests/test_auth.py::test_refresh - KeyError: 'refresh'
========================= 2 failed, 13 passed in 0.12s =========================
Command exited with code 1"""

_UNITTEST = """\
.F.
======================================================================
FAIL: test_sum (calc.tests.SumTests)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/repo/calc/tests.py", line 17, in test_sum
    self.assertEqual(add(2, 2), 5)
AssertionError: 4 != 5

----------------------------------------------------------------------
Ran 3 tests in 0.002s

FAILED (failures=1)
"""

_JEST = """\
 FAIL  src/cart.test.ts
  ● Cart › adds an item

    expect(received).toBe(expected)

      at Object.<anonymous> (src/cart.test.ts:14:22)

Tests:       1 failed, 6 passed, 7 total
Test Suites: 1 failed, 1 passed, 2 total
"""

_VITEST = """\
 ✓ test/a.test.ts (4 tests) 13ms
 × rejects an empty name 5ms
AssertionError: expected 0 to be 1
 ❯ test/b.test.ts:9:11
 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 9 passed (10)
"""

_MOCHA = """\
  12 passing (40ms)
  1 failing

  1) Parser keeps comments:
     AssertionError [ERR_ASSERTION]: 3 == 4
      at Context.<anonymous> (test/parser.js:31:10)
"""

_CARGO = """\
running 3 tests
test lexer::numbers ... ok
test lexer::strings ... FAILED

failures:

---- lexer::strings stdout ----
thread 'lexer::strings' panicked at src/lexer.rs:88:9:
assertion `left == right` failed

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
error: test failed, to rerun pass `--lib`
"""

_GO = """\
--- FAIL: TestParse (0.00s)
    parse_test.go:23: got 3, want 4
FAIL
FAIL\texample.com/parse\t0.004s
ok  \texample.com/lex\t0.002s
"""

_MAVEN = """\
[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 2, Time elapsed: 0.1 s <<< FAILURE!
[ERROR] com.acme.CartTest.addsItem:31 expected:<1> but was:<2>
[ERROR] /repo/src/main/java/com/acme/Cart.java:[12,5] cannot find symbol
[INFO] BUILD FAILURE
"""

_CTEST = """\
1/2 Test #1: alloc ............................   Passed    0.00 sec
2/2 Test #2: frame ............................***Failed    0.01 sec

50% tests passed, 1 tests failed out of 2
"""

_RUNS = {
    "pytest": (
        _PYTEST,
        ["2 failed, 13 passed", "tests/test_auth.py::test_token_expiry", "tests/test_auth.py:42", "exit code 1"],
    ),
    "unittest": (
        _UNITTEST,
        [
            "Ran 3 tests",
            "FAILED (failures=1)",
            "test_sum (calc.tests.SumTests)",
            "4 != 5",
            "/repo/calc/tests.py line 17",
        ],
    ),
    "jest": (
        _JEST,
        [
            "Tests:       1 failed, 6 passed, 7 total".replace("       ", " "),
            "Cart › adds an item",
            "src/cart.test.ts:14:22",
        ],
    ),
    "vitest": (_VITEST, ["1 failed | 9 passed (10)", "expected 0 to be 1", "test/b.test.ts:9:11"]),
    "mocha": (_MOCHA, ["12 passing", "1 failing", "3 == 4", "test/parser.js:31:10"]),
    "cargo": (_CARGO, ["2 passed; 1 failed", "lexer::strings", "src/lexer.rs:88:9"]),
    "go": (_GO, ["TestParse", "parse_test.go:23", "example.com/parse"]),
    "maven": (_MAVEN, ["Tests run: 12, Failures: 1", "BUILD FAILURE", "cannot find symbol"]),
    "ctest": (_CTEST, ["50% tests passed, 1 tests failed out of 2"]),
}


@pytest.mark.parametrize("name", _RUNS)
def test_runners(name: str) -> None:
    text, expected = _RUNS[name]
    check(say("bash", {"command": "run the tests"}, text), *expected)


_TSC = """\
../tui/test/chat-simple.ts(28,2): error TS2739: Type '{ a: any; }' is missing the following properties: b, c
../tui/test/chat-simple.ts(30,3): error TS18004: No value exists in scope for the shorthand property 'noMatch'.
npm error Lifecycle script `check` failed with error:
npm error code 2
npm error path /repo/packages/agent
"""
_RUSTC = """\
error[E0425]: cannot find value `widht` in this scope
  --> src/main.rs:4:13
   |
4  |     let a = widht * 2;
   |             ^^^^^ help: a local variable with a similar name exists: `width`
error: could not compile `demo` (bin "demo") due to 1 previous error
"""
_GCC = """\
blosc/win32/pthread.h:38:10: fatal error: windows.h: No such file or directory
   38 | #include <windows.h>
compilation terminated.
"""
_JAVAC = "src/Main.java:7: error: incompatible types: String cannot be converted to int\n1 error\n"
_GOBUILD = "./main.go:12:2: undefined: fmtt\n./main.go:14:9: cannot use x (variable of type int) as string value\n"
_ESLINT = "/repo/src/app.js\n  12:5  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n"
_RUFF = "src/a.py:3:1: F401 `os` imported but unused\nFound 1 error.\n"
_LD = """\
/usr/bin/ld: main.o: in function `main':
main.c:(.text+0x5): undefined reference to `frob'
collect2: error: ld returned 1 exit status
"""

_COMPILERS = {
    "tsc": (_TSC, ["TS2739", "../tui/test/chat-simple.ts(28,2), (30,3)", "'noMatch'", "npm error code 2"]),
    "rustc": (_RUSTC, ["error[E0425]: cannot find value `widht` in this scope", "src/main.rs:4:13"]),
    "gcc": (_GCC, ["fatal error: windows.h: No such file or directory", "blosc/win32/pthread.h:38:10"]),
    "javac": (_JAVAC, ["src/Main.java:7", "String cannot be converted to int", "1 error"]),
    "go": (_GOBUILD, ["./main.go:12:2", "14:9", "undefined: fmtt"]),
    "eslint": (_ESLINT, ["/repo/src/app.js", "'x' is not defined", "1 problem"]),
    "ruff": (_RUFF, ["src/a.py:3:1", "Found 1 error"]),
    "ld": (_LD, ["undefined reference to 'frob'", "ld returned 1 exit status"]),
}


@pytest.mark.parametrize("name", _COMPILERS)
def test_compilers_and_linters(name: str) -> None:
    text, expected = _COMPILERS[name]
    check(say("exec_command", {"cmd": "build it"}, text), *expected)


_TRACES = {
    "python": (
        'Traceback (most recent call last):\n  File "/repo/app.py", line 9, in <module>\n    main()\n'
        '  File "/usr/lib/python3.12/json/decoder.py", line 337, in decode\n    raise X\n'
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n",
        ["JSONDecodeError: Expecting value", "/repo/app.py line 9", "/usr/lib/python3.12/json/decoder.py line 337"],
    ),
    "python, an exception of any name": (
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nLookout: no ship in sight\n',
        ["Lookout: no ship in sight", "a.py line 3"],
    ),
    "node": (
        "Error: Cannot find module './config.js'\n    at nextResolve (/repo/loader.cjs:4:1004)\n  code: 'NOT_FOUND'\n",
        ["Cannot find module './config.js'", "/repo/loader.cjs:4:1004"],
    ),
    "java": (
        'Exception in thread "main" java.lang.NullPointerException: name\n\tat com.acme.Main.run(Main.java:41)\n',
        ["NullPointerException: name", "Main.java:41"],
    ),
    "go": (
        "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n"
        "\t/repo/main.go:8 +0x1d\n",
        ["index out of range [3] with length 3", "/repo/main.go:8"],
    ),
    "rust": ("thread 'main' panicked at src/main.rs:2:5:\nboom\n", ["panicked at src/main.rs:2:5"]),
    "shell": ("/tmp/run.sh: line 12: frob: command not found\n", ["frob: command not found", "/tmp/run.sh: line 12"]),
    "php": ("PHP Fatal error:  Uncaught Error in /srv/a.php on line 31\n", ["Fatal error", "/srv/a.php on line 31"]),
    "sanitizer": (
        "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602\n    #0 0x51 in parse /src/p.c:77:9\n",
        ["heap-buffer-overflow", "/src/p.c:77:9"],
    ),
}


@pytest.mark.parametrize("name", _TRACES)
def test_stack_traces(name: str) -> None:
    text, expected = _TRACES[name]
    check(say("shell", {"command": ["bash", "-lc", "run it"]}, text), *expected)


def test_messages_that_differ_in_what_they_quote_are_told_once() -> None:
    names = ("spawn", "join", "tmpdir", "createWriteStream", "randomBytes", "readFileSync", "homedir")
    lines = [f"src/a.ts({n},5): error TS2304: Cannot find name '{name}'." for n, name in enumerate(names, 3)]
    said = say("bash", {"command": "tsc"}, "\n".join([*lines, "It took 2 s.", "Watching for changes."]))
    check(said, *(f"'{name}'" for name in names), "src/a.ts line 3, 9, 4, 5, 6, 7, 8")
    assert said.count("TS2304: Cannot find name") <= 2


@pytest.mark.parametrize(
    "line",
    [
        "0 errors, 0 warnings",
        "test_error_handling PASSED",
        "checked src/error/handler.ts",
        "no problems found here",
        "found 0 vulnerabilities",
    ],
)
def test_what_is_no_error(line: str) -> None:
    check(say("bash", {"command": "check"}, line + "\n" + "all is fine\n" * 8), lacks=["errors:"])


@pytest.mark.parametrize(
    "text", ["错误: 无法打开文件 config.yaml\n第 3 行", "エラー: ファイルがありません\n終了", "오류: 파일 없음\n끝"]
)
def test_errors_in_other_scripts(text: str) -> None:
    check(say("bash", {"command": "run"}, text), text.split("\n", 1)[0])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "# The other 5 SEARCH/REPLACE blocks were applied successfully.",
            "other 5 SEARCH/REPLACE blocks were applied",
        ),
        ("exit status 1\u2503  biome-format-check \u276f", "exit status 1"),
        ("==> WARNING: A newer version of conda exists. <==", "A newer version of conda exists"),
        ("The following paths are ignored by one of your .gitignore files:", "The following paths are ignored by one"),
    ],
)
def test_what_is_told_from_the_middle(line: str, told: str) -> None:
    around = "".join(f"step {number} of the work went on here\n" for number in range(60))
    check(say("Bash", {"command": "make"}, around + line + "\n" + around), told)


def test_a_message_told_often_is_told_in_its_own_words() -> None:
    once = "src/a.ts(1,2): error TS2339: Property 'first' does not exist on type 'One'.\n"
    often = "".join(
        f"src/b.ts({line},9): error TS2339: Property 'invalidate' does not exist on type 'TUI'.\n" for line in range(5)
    )
    said = say("Bash", {"command": "tsc"}, once + often)
    check(said, "Property 'first' does not exist on type 'One'", "Property 'invalidate' does not exist on type 'TUI'")


def test_what_is_told_again_and_again_comes_before_what_is_told_once() -> None:
    lines = [
        f"src/a.ts({at},1): error TS100{at}: Something number {at} went very wrong in this file.\n" for at in range(9)
    ]
    many = [f"src/z.ts({at},1): error TS2554: Expected 4-5 arguments, but got 3.\n" for at in range(9)]
    check(say("Bash", {"command": "tsc"}, "".join([*lines, *many])), "Expected 4-5 arguments, but got 3")


def test_a_long_error_is_cut_rather_than_left_out() -> None:
    short = "npm error Lifecycle script `check` failed with error:\n"
    long = (
        "src/a.ts(5,3): error TS2345: Argument of type 'Handler' is not assignable "
        + "to a parameter of that sort " * 6
    )
    noise = "".join(f"> step {number} of the check\n" for number in range(120))
    check(say("Bash", {"command": "npm run check"}, noise + long + "\n" + short), "Argument of type 'Handler'")
