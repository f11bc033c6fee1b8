"""Frames, good and bad, each with the answers that protocol.md promises for it."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from afterturn_protocol.table import METHODS

VECTORS = Path(__file__).parents[3] / "spec" / "vectors" / "valid"
ENDING = ("initialize", "shutdown", "exit")
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**53, 10**30, "", "x", "\ud83d", "漢字🚀", [], [[]], {}, {"a": None}, ["x", 1],
)  # fmt: skip


class Shot(NamedTuple):
    """Bytes of one frame (or of what stands for one), and what they call for.

    answers: how many answers each id gets, keyed by its JSON text. faults: the codes of answers with a null id.
    """

    body: bytes
    answers: Mapping[str, int] = MappingProxyType({})
    faults: tuple[int, ...] = ()


class Shots:
    """Makes shots; the same seed makes the same ones."""

    def __init__(self, seed: int, max_bytes: int) -> None:
        self.random = random.Random(seed)
        self._max_bytes = max_bytes
        self._count = 0
        self._params = {
            method.name: [json.loads(path.read_text("utf-8")) for path in sorted(_folder(method.params).glob("*.json"))]
            for method in METHODS.values()
            if method.name not in ENDING
        }
        self._kinds = [
            (self.request, 30),
            (self.mutated, 20),
            (self.notification, 6),
            (self.unknown_method, 4),
            (self.cancel, 6),
            (self.reply_to_nothing, 4),
            (self.malformed, 8),
            (self.not_a_message, 6),
            (self.bad_id, 4),
            (self.invalid_utf8, 4),
            (self.deep, 2),
            (self.surrogate, 3),
            (self.oversized, 1),
        ]

    def one(self) -> Shot:
        """Any shot that leaves the framing intact."""
        kinds, weights = zip(*self._kinds, strict=True)
        return self.random.choices(kinds, weights)[0]()

    # -- messages ----------------------------------------------------------------------------------------

    def id(self) -> int | str:
        self._count += 1
        n = self._count
        return self.random.choice([n, -n, n + 2**40, f"s{n}", f"漢{n}", f"{n} \u2028 x", "l" * 300 + str(n)])

    def request(self) -> Shot:
        name = self.random.choice(list(self._params))
        return self._asked(name, self.random.choice(self._params[name] or [{}]))

    def mutated(self) -> Shot:
        """A request with one value of its params changed, removed or added: an answer of some kind all the same."""
        name = self.random.choice(list(self._params))
        params = json.loads(json.dumps(self.random.choice(self._params[name] or [{}])))
        for _ in range(self.random.choice([1, 1, 1, 3])):
            params = self._bent(params)
        return self._asked(name, params)

    def _bent(self, value: Any) -> Any:
        if isinstance(value, dict) and value and self.random.random() < 0.85:
            key = self.random.choice(list(value))
            roll = self.random.random()
            if roll < 0.15:
                del value[key]
            elif roll < 0.25:
                value[self.random.choice(["x", "jsonrpc", "id", "método", key.upper()])] = self._odd()
            else:
                value[key] = self._bent(value[key])
            return value
        if isinstance(value, list) and value and self.random.random() < 0.7:
            index = self.random.randrange(len(value))
            value[index] = self._bent(value[index])
            return value
        return self._odd()

    def _odd(self) -> Any:
        return json.loads(json.dumps(self.random.choice(ODD_VALUES)))

    def _asked(self, method: str, params: Any) -> Shot:
        id = self.id()
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        if self.random.random() < 0.1:
            message["extra"] = self._odd()
        if self.random.random() < 0.2:
            items = list(message.items())
            self.random.shuffle(items)
            message = dict(items)
        return Shot(self._json(message), {json.dumps(id): 1})

    def _json(self, message: Any) -> bytes:
        style = self.random.random()
        if style < 0.6:
            return json.dumps(message, separators=(",", ":")).encode()
        if style < 0.8:
            return json.dumps(message, indent=self.random.choice([None, 1])).replace("\n", " ").encode()
        try:
            return json.dumps(message, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half a surrogate pair can only be escaped
            return json.dumps(message).encode()

    def notification(self) -> Shot:
        name = self.random.choice([*self._params, "initialized", "$/unknown", "no/such"])
        params = self.random.choice(self._params.get(name) or [{}, None, [], 5])
        if name == "$/setTrace":
            params = {"value": "off"}
        return Shot(self._json({"jsonrpc": "2.0", "method": name, "params": params}))

    def unknown_method(self) -> Shot:
        return self._asked(
            self.random.choice(["no/such", "", "$/x", "condense/Summarize", "a" * 500, "\ud83d"]), self._odd()
        )

    def cancel(self) -> Shot:
        id = self.random.choice([self._count, self._count - 1, -self._count, f"s{self._count}", "none", None, 1.5, []])
        return Shot(self._json({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}}))

    def reply_to_nothing(self) -> Shot:
        what = self.random.choice([{"result": None}, {"result": {"a": 1}}, {"error": {"code": 1, "message": "m"}}])
        id = self.random.choice([1, "afterturn-1", "x", None, 10**25])
        return Shot(self._json({"jsonrpc": "2.0", "id": id, **what}))

    # -- what is none --------------------------------------------------------------------------------------

    def malformed(self) -> Shot:
        good = self.request().body.decode()
        bodies = [
            good[: self.random.randrange(1, len(good))],
            good[:-1],
            good + "}",
            '{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":NaN}}',
            '{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":01}}',
            self.random.choice(["{", "nonsense", "'x'", "{'a':1}", "\x00", "tru"]),
        ]
        return Shot(self.random.choice(bodies).encode(), faults=(-32700,))

    def not_a_message(self) -> Shot:
        message = self.random.choice(
            [
                [],
                [1],
                [{"jsonrpc": "2.0", "id": 1, "method": "x"}],
                5,
                "x",
                None,
                True,
                {},
                {"id": 4},
                {"jsonrpc": "2.0"},
                {"jsonrpc": "1.0", "id": 1, "method": "x"},
                {"id": 1, "method": "x"},
                {"jsonrpc": "2.0", "id": 1, "method": 5},
                {"jsonrpc": 2, "id": 1, "method": "x"},
                {"jsonrpc": "2.0", "method": None, "id": 1},
            ]
        )
        return Shot(self._json(message), faults=(-32600,))

    def bad_id(self) -> Shot:
        id = self.random.choice([1.5, 2.0, True, False, [], {}, None, [1]])
        return Shot(self._json({"jsonrpc": "2.0", "id": id, "method": "afterturn/status"}), faults=(-32600,))

    def invalid_utf8(self) -> Shot:
        id = self.id()
        bad = self.random.choice([b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\xbd", b"\xf8\x88\x80\x80\x80"])
        body = b'{"jsonrpc":"2.0","id":%b,"method":"session/open","params":{"sessionId":"a%bb"}}'
        return Shot(body % (json.dumps(id).encode(), bad), {json.dumps(id): 1})

    def deep(self) -> Shot:
        id = self.id()
        opening, closing = self.random.choice([(b"[", b"]"), (b'{"a":', b"}")])
        depth = self.random.choice([100, 900, 1100, 5000])
        nested = opening * depth + (b"1" if opening != b"[" else b"") + closing * depth
        body = b'{"jsonrpc":"2.0","id":%b,"method":"session/open","params":{"sessionId":"s","x":%b}}'
        return Shot(body % (json.dumps(id).encode(), nested), {json.dumps(id): 1})

    def surrogate(self) -> Shot:
        return self._asked("session/open", {"sessionId": "cut \ud83d", "project": self.random.choice(["\udc00", "ok"])})

    def oversized(self) -> Shot:
        return Shot(b" " * (self._max_bytes + self.random.randrange(1, 2000)), faults=(-32600,))


def _folder(type_name: str) -> Path:
    return VECTORS / type_name.rpartition(":")[2]


# -- framing ---------------------------------------------------------------------------------------------------


def framed(shot: Shot, rng: random.Random) -> bytes:
    """The shot with a header that must be understood, however it is written."""
    length = len(shot.body)
    style = rng.randrange(10)
    if style < 4:
        return b"Content-Length: %d\r\n\r\n%b" % (length, shot.body)
    name = rng.choice([b"content-length", b"CONTENT-LENGTH", b"Content-length", b"Content-Length "])
    value = rng.choice([b"%d", b" %d", b"\t%d ", b"   %d\t", b"00%d"]) % length
    end = rng.choice([b"\r\n", b"\n"])
    lines = [name + b":" + value]
    for extra in (b"Content-Type: application/vscode-jsonrpc; charset=utf-8", b"X-Thing: a: b", b"X-Empty:"):
        if rng.random() < 0.3:
            lines.insert(rng.randrange(len(lines) + 1), extra)
    stray = rng.choice([b"", b"", b"\r\n", b"\n\n"])
    return stray + end.join(lines) + end + rng.choice([b"\r\n", b"\n"]) + shot.body


def bad_header(rng: random.Random) -> bytes:
    """Bytes that are no header, answered once with `bad_header`."""
    return rng.choice(
        [
            b"Content-Length: x\r\n\r\n",
            b"Content-Length: -5\r\n\r\n",
            b"Content-Length: 1.5\r\n\r\n",
            b"Content-Length:\r\n\r\n",
            b"Content-Length: 99999999999999999999999\r\n\r\n",
            b"Content-Type: x\r\n\r\n",
            b"garbage ",
            b"\x00\x01\x02",
            b'{"jsonrpc":"2.0","id":1,"method":"x"}\n',
            b"GET / HTTP/1.1\r\n",
            b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
            b"\xff\xfe" * 30,
            b"x" * 9000,
        ]
    )


def lying(shot: Shot, rng: random.Random) -> bytes:
    """A length that is not the body's: what it damages is not promised, only that the stream is found again."""
    length = max(0, len(shot.body) + rng.choice([-40, -3, -1, 1, 2, 30, 200]))
    return b"Content-Length: %d\r\n\r\n%b" % (length, shot.body)
