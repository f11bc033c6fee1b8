"""Runs the scripted conversations of spec/conversations against a process (the format: spec/conversations/README.md).

    run_conversation(path.read_text("utf-8").splitlines(), start_process)

`start_process(args)` starts the server with these extra arguments and pipes for stdin and stdout, as a
`subprocess.Popen`; within one conversation it is called again after a restart and must give the same data folder.
"""

import base64
import json
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable
from typing import Any

PATIENCE_SECONDS = 20.0

StartProcess = Callable[[list[str]], "subprocess.Popen[bytes]"]

TYPES: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}


class ConversationError(AssertionError):
    """A step that did not go as the script says."""


def run_conversation(lines: Iterable[str], start_process: StartProcess) -> None:
    """Play one script. Raises ConversationError, naming the line, at the first step that does not go as it says."""
    runner = _Runner(start_process)
    try:
        for line in lines:
            runner.play(line)
        runner.finish()
    except ConversationError as problem:
        raise ConversationError(f"line {runner.line}: {problem}") from None
    finally:
        runner.stop()


# -- values and patterns ----------------------------------------------------------------------------------------


def fill(value: Any, bound: dict[str, Any]) -> Any:
    """`value` with every `$use` and `$repeat` in it replaced by what it stands for."""
    if isinstance(value, list):
        return [fill(item, bound) for item in value]
    if not isinstance(value, dict):
        return value
    if list(value) == ["$use"]:
        return bound[value["$use"]]
    if list(value) == ["$repeat"]:
        text, times = value["$repeat"]
        return text * times
    return {key: fill(item, bound) for key, item in value.items()}


def mismatch(pattern: Any, value: Any, bound: dict[str, Any], at: str = "$") -> str | None:
    """None where `value` fits `pattern`, else where and why not. Fills `bound` with what `$bind` catches."""
    if isinstance(pattern, list):
        return _list_mismatch(pattern, value, bound, at)
    if not isinstance(pattern, dict):
        equal = pattern == value and isinstance(pattern, bool) == isinstance(value, bool)
        return None if equal else f"{at}: expected {_show(pattern)}, got {_show(value)}"
    if len(pattern) == 1 and (name := next(iter(pattern))).startswith("$") and name in MATCHERS:
        return MATCHERS[name](pattern[name], value, bound, at)
    if not isinstance(value, dict):
        return f"{at}: expected an object, got {_show(value)}"
    for key, item in pattern.items():
        if item == {"$absent": True}:
            if key in value:
                return f"{at}.{key}: expected no such field, got {_show(value[key])}"
        elif key not in value:
            return f"{at}.{key}: missing in {_show(value)}"
        elif problem := mismatch(item, value[key], bound, f"{at}.{key}"):
            return problem
    return None


def _list_mismatch(pattern: list[Any], value: Any, bound: dict[str, Any], at: str) -> str | None:
    if not isinstance(value, list) or len(value) != len(pattern):
        return f"{at}: expected {len(pattern)} items, got {_show(value)}"
    problems = (mismatch(item, value[i], bound, f"{at}[{i}]") for i, item in enumerate(pattern))
    return next((problem for problem in problems if problem), None)


def _any(type_name: str, value: Any, bound: dict[str, Any], at: str) -> str | None:
    return None if TYPES[type_name](value) else f"{at}: expected {type_name}, got {_show(value)}"


def _bind(name: str, value: Any, bound: dict[str, Any], at: str) -> str | None:
    bound[name] = value
    return None


def _exact(pattern: dict[str, Any], value: Any, bound: dict[str, Any], at: str) -> str | None:
    if isinstance(value, dict) and (extra := sorted(set(value) - set(pattern))):
        return f"{at}: unexpected fields {', '.join(extra)}"
    return mismatch(pattern, value, bound, at)


def _contains(pattern: Any, value: Any, bound: dict[str, Any], at: str) -> str | None:
    wanted = fill(pattern, bound)
    if isinstance(value, str):
        found = isinstance(wanted, str) and wanted in value
    else:
        found = isinstance(value, list) and any(mismatch(wanted, item, dict(bound)) is None for item in value)
    return None if found else f"{at}: expected to contain {_show(wanted)}, got {_show(value)}"


def _one_of(patterns: list[Any], value: Any, bound: dict[str, Any], at: str) -> str | None:
    problems: list[str] = []
    for pattern in patterns:
        trial = dict(bound)
        problem = mismatch(pattern, value, trial, at)
        if problem is None:
            bound.update(trial)
            return None
        problems.append(problem)
    return f"{at}: fits none: {'; '.join(problems)}"


MATCHERS: dict[str, Callable[[Any, Any, dict[str, Any], str], str | None]] = {
    "$any": _any,
    "$bind": _bind,
    "$use": lambda name, value, bound, at: mismatch(bound[name], value, bound, at),
    "$repeat": lambda what, value, bound, at: mismatch(fill({"$repeat": what}, bound), value, bound, at),
    "$exact": _exact,
    "$contains": _contains,
    "$oneOf": _one_of,
}


def _show(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 400 else f"{text[:300]} ... {text[-80:]}"


# -- the process ------------------------------------------------------------------------------------------------


class _Runner:
    def __init__(self, start_process: StartProcess) -> None:
        self.line = 0
        self._start_process = start_process
        self._process: subprocess.Popen[bytes] | None = None
        self._ndjson = False
        self._arrived: queue.Queue[bytes | None] = queue.Queue()
        self._reader: threading.Thread | None = None
        self._bound: dict[str, Any] = {}

    def play(self, line: str) -> None:
        """Do the step of one line."""
        self.line += 1
        step = json.loads(line or "{}")
        names = [name for name in step if name not in ("note", "req")]
        if not names:
            return
        (name,) = names
        value = step[name]
        if name == "start":
            self._start(value)
        elif self._process is None:
            raise ConversationError(f"{name} before start")
        elif name.startswith("send"):
            self._write(self._bytes(name, value))
        elif name == "expect":
            self._expect([value])
        elif name == "expectAll":
            self._expect(value)
        elif name == "close":
            _stdin(self._process).close()
        elif name == "signal":
            self._process.send_signal(getattr(signal, value))
        elif name == "kill":
            self.stop()
        elif name == "expectExit":
            self._expect_exit(value)
        else:
            raise ConversationError(f"unknown step {name}")

    def finish(self) -> None:
        """The script is over: its process must have been seen to end."""
        if self._process is not None:
            raise ConversationError("the script ends without expectExit or kill")

    def stop(self) -> None:
        """Kill the process, if there is one, and forget what it sent."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE_SECONDS)
            self._forget()

    def _start(self, options: dict[str, Any]) -> None:
        if self._process is not None:
            raise ConversationError("start while the process runs")
        args: list[str] = options.get("args", [])
        self._ndjson = "--framing=ndjson" in args
        self._arrived = queue.Queue()
        self._process = self._start_process(args)
        self._reader = threading.Thread(target=self._read, args=(self._process, self._arrived), daemon=True)
        self._reader.start()

    def _bytes(self, name: str, value: Any) -> bytes:
        if name == "sendRaw":
            return str(value).encode("utf-8", "surrogatepass")
        if name == "sendBase64":
            return base64.b64decode(value)
        if name == "send":
            body = json.dumps({"jsonrpc": "2.0", **fill(value, self._bound)}).encode()
        elif name == "sendBody":
            body = str(value).encode("utf-8", "surrogatepass")
        elif name == "sendBodyBase64":
            body = base64.b64decode(value)
        elif name == "sendTogether":
            return b"".join(self._bytes("send", message) for message in value)
        else:
            raise ConversationError(f"unknown step {name}")
        return body + b"\n" if self._ndjson else b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

    def _write(self, data: bytes) -> None:
        assert self._process is not None
        stdin = _stdin(self._process)
        stdin.write(data)
        stdin.flush()

    def _expect(self, patterns: list[Any]) -> None:
        left = list(patterns)
        while left:
            message = self._take()
            problems: list[str] = []
            for i, pattern in enumerate(left):
                trial = dict(self._bound)
                problem = mismatch(pattern, message, trial)
                if problem is None:
                    self._bound = trial
                    del left[i]
                    break
                problems.append(problem)
            else:
                raise ConversationError(f"{'; '.join(problems)} (the whole message: {_show(message)})")

    def _take(self) -> Any:
        try:
            body = self._arrived.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            raise ConversationError(f"nothing came within {PATIENCE_SECONDS} s") from None
        if body is None:
            self._arrived.put(None)
            raise ConversationError("the process closed its output")
        return parse(body)

    def _expect_exit(self, code: int) -> None:
        assert self._process is not None
        try:
            got = self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            raise ConversationError(f"still running after {PATIENCE_SECONDS} s") from None
        if got != code:
            raise ConversationError(f"exit code {got}, expected {code}")
        left = self._arrived.get(timeout=PATIENCE_SECONDS)
        if left is not None:
            raise ConversationError(f"a message that no step expects: {_show(parse(left))}")
        self._forget()

    def _forget(self) -> None:
        process, self._process = self._process, None
        assert process is not None
        if self._reader is not None:
            self._reader.join(PATIENCE_SECONDS)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass

    def _read(self, process: "subprocess.Popen[bytes]", arrived: "queue.Queue[bytes | None]") -> None:
        assert process.stdout is not None
        stdout = process.stdout
        try:
            while line := stdout.readline():
                if self._ndjson:
                    arrived.put(line)
                    continue
                length = 0
                while line.strip():
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                    line = stdout.readline()
                arrived.put(stdout.read(length))
        except ValueError:
            arrived.put(b"a header without a length")
        finally:
            arrived.put(None)


def parse(body: bytes) -> Any:
    """One body as JSON; every message must be a JSON-RPC 2.0 object."""
    try:
        message = json.loads(body)
    except ValueError:
        raise ConversationError(f"not JSON: {body[:200]!r}") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise ConversationError(f"not a JSON-RPC message: {_show(message)}")
    return message


def _stdin(process: "subprocess.Popen[bytes]") -> Any:
    assert process.stdin is not None
    return process.stdin
