"""Message bodies to envelopes and back (protocol.md, 'Framing and transport').

msgspec does the work: an envelope whose `params` stay raw, then one typed decode for the method. Where it
refuses what the wire allows - a lone surrogate escape, which Node writes when it cuts a string, or `[]` for an
empty object, which Lua writes - a slower path through the standard library takes over for that one message.
"""

import re
from typing import Any, Never, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, inspect

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

_MAX_EMPTY_ARRAYS = 64
_JSON_NAMES = {"int": "integer", "str": "string", "float": "number", "bool": "boolean"}


class Envelope(Struct, gc=False):
    """Any message of a peer.

    `params`, `result` and `error` are raw as received; after the slow path they hold the plain value instead.
    """

    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    jsonrpc: str | UnsetType = UNSET


class _Head(Struct):
    """What the slow path checks of an envelope; the rest may be anything."""

    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    jsonrpc: str | UnsetType = UNSET


class Malformed(Exception):
    """A body that is no message: the JSON-RPC error `code` and the `id` to answer it with (None = null)."""

    def __init__(self, code: int, message: str, id: int | str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id


class InvalidParams(Exception):
    """Params that do not fit their type: the JSON path of the first misfit and what was expected there."""

    def __init__(self, path: str, expected: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.expected = expected
        self.message = message


_decode_wire = msgspec.json.Decoder(Envelope).decode
_encode = msgspec.json.Encoder().encode


def decode_envelope(body: bytes | bytearray) -> Envelope:
    """One message body as an envelope. Raises Malformed."""
    try:
        return _decode_wire(body)
    except msgspec.ValidationError as problem:
        raise Malformed(INVALID_REQUEST, f"Invalid request: {_first_line(problem)}") from None
    except RecursionError:
        raise Malformed(PARSE_ERROR, "The message is nested too deeply", find_id(body)) from None
    except msgspec.DecodeError:
        return _decode_slowly(body)


def _decode_slowly(body: bytes | bytearray) -> Envelope:
    try:
        value = loads(body)
    except UnicodeDecodeError:
        raise Malformed(PARSE_ERROR, "The message is not UTF-8", find_id(body)) from None
    except RecursionError:
        raise Malformed(PARSE_ERROR, "The message is nested too deeply", find_id(body)) from None
    except ValueError as problem:
        raise Malformed(PARSE_ERROR, f"Malformed JSON: {_first_line(problem)}") from None
    try:
        head = msgspec.convert(_known_fields(value, inspect.type_info(_Head)), _Head)
    except msgspec.ValidationError as problem:
        raise Malformed(INVALID_REQUEST, f"Invalid request: {_first_line(problem)}") from None
    rest: dict[str, Any] = {name: value[name] for name in ("params", "result", "error") if name in value}
    return Envelope(id=head.id, method=head.method, jsonrpc=head.jsonrpc, **rest)


def loads(body: bytes | bytearray | Raw) -> Any:
    """JSON with lone surrogates kept, NaN and Infinity refused. Raises ValueError, RecursionError."""
    import json

    return json.loads(bytes(body).decode("utf-8"), parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")


class ParamsDecoder:
    """The typed decode of one method's params."""

    def __init__(self, type_: type[Any]) -> None:
        self._type = type_
        self._decode = msgspec.json.Decoder(type_).decode

    def decode(self, params: Any) -> Any:
        """`params` (Raw, a plain value, or UNSET for none) as the method's Struct.

        Raises InvalidParams, and Malformed (with id None) for bytes that are no JSON at all.
        """
        try:
            if type(params) is Raw:
                return self._decode(params)
            return msgspec.convert({} if params is UNSET or params is None else params, self._type)
        except msgspec.ValidationError as problem:
            if not _FORGIVABLE.match(str(problem)):
                raise _invalid(problem) from None
            return self._decode_slowly(params, problem)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as problem:
            return self._decode_slowly(params, problem)

    def _decode_slowly(self, params: Any, problem: Exception) -> Any:
        """Forgive `[]` for `{}`, a null for nothing, and lone surrogates; else say what is wrong where."""
        try:
            value = loads(params) if type(params) is Raw else params
        except UnicodeDecodeError:
            raise Malformed(PARSE_ERROR, "The params are not UTF-8") from None
        except RecursionError:
            raise Malformed(PARSE_ERROR, "The params are nested too deeply") from None
        except ValueError as error:
            raise Malformed(PARSE_ERROR, f"Malformed JSON: {_first_line(error)}") from None
        if value is None:
            value = {}
        stripped = False
        for _ in range(_MAX_EMPTY_ARRAYS):
            try:
                return msgspec.convert(value, self._type)
            except UnicodeEncodeError:
                if stripped:
                    raise InvalidParams("$", "text without lone surrogates", "A lone surrogate is misplaced") from None
                # In the name of a field it does no harm, since that is none of ours.
                value, stripped = _known_fields(value, inspect.type_info(self._type)), True
            except msgspec.ValidationError as error:
                problem = error
                value, changed = _empty_array_to_object(value, *split_problem(str(error)))
                if not changed:
                    break
        raise _invalid(problem)


def _invalid(problem: Exception) -> InvalidParams:
    path, expected = split_problem(str(problem))
    return InvalidParams(path, expected, _first_line(problem))


# `[]` for an object anywhere, and null for the params as a whole.
_FORGIVABLE = re.compile(r"Expected `[^`]*object[^`]*`, got `(array|null)`")
_PROBLEM = re.compile(
    r"(?s)(?:Expected `(?P<expected>[^`]*)`(?:, got `[^`]*`)?|(?P<other>.*?))(?: - at `(?P<path>[^`]*)`)?"
)
_MISSING = re.compile(r"Object missing required field `([^`]*)`")


def split_problem(text: str) -> tuple[str, str]:
    """A msgspec message as `(path, expected)` (protocol.md, 'Errors').

    For a missing field: the path of the object that lacks it, and the field's name.

    >>> split_problem("Expected `int`, got `str` - at `$.batch.turnIndex`")
    ('$.batch.turnIndex', 'integer')
    """
    match = _PROBLEM.fullmatch(text)
    path = (match and match["path"]) or "$"
    missing = _MISSING.match(text)
    if missing:
        return path, missing[1]
    expected = (match and (match["expected"] or match["other"])) or text
    return path, " | ".join(_JSON_NAMES.get(word, word) for word in expected.split(" | "))


def _known_fields(value: Any, type_: inspect.Type) -> Any:
    """`value` without the fields that its type does not have, at every level that is a Struct's."""
    if isinstance(type_, inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in type_.fields}
        mapping = cast("dict[str, Any]", value)
        return {name: _known_fields(item, fields[name]) for name, item in mapping.items() if name in fields}
    if isinstance(type_, inspect.ListType | inspect.VarTupleType) and isinstance(value, list):
        return [_known_fields(item, type_.item_type) for item in cast("list[Any]", value)]
    if isinstance(type_, inspect.DictType) and isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        return {name: _known_fields(item, type_.value_type) for name, item in mapping.items()}
    if isinstance(type_, inspect.UnionType):
        for choice in type_.types:
            value = _known_fields(value, choice)
    return value


_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|(\[\.\.\.\])")


def _empty_array_to_object(value: Any, path: str, expected: str) -> tuple[Any, bool]:
    """`value` with the empty array at `path` made an object, where an object was expected."""
    if "object" not in expected:
        return value, False
    if path == "$":
        return ({}, True) if value == [] else (value, False)
    holders: list[Any] = [value]
    steps = list(_STEP.finditer(path, 1))
    for step in steps[:-1]:
        holders = [child for holder in holders for child in _children(holder, step)]
    changed = False
    last = steps[-1]
    for holder in holders:
        for key in _keys(holder, last):
            if holder[key] == []:
                holder[key] = {}
                changed = True
    return value, changed


def _keys(holder: Any, step: re.Match[str]) -> list[Any]:
    if isinstance(holder, dict):
        mapping = cast(dict[str, Any], holder)
        if step[3]:
            return list(mapping)
        return [step[1]] if step[1] in mapping else []
    if isinstance(holder, list):
        items = cast(list[Any], holder)
        if step[3]:
            return list(range(len(items)))
        return [int(step[2])] if step[2] and int(step[2]) < len(items) else []
    return []


def _children(holder: Any, step: re.Match[str]) -> list[Any]:
    return [holder[key] for key in _keys(holder, step)]


def encode(message: Any) -> bytes:
    """Any message as JSON. Raises TypeError, ValueError or RecursionError for what JSON cannot say.

    Lone surrogates come out as the escapes they came in as; integers may be of any size.
    """
    try:
        return _encode(message)
    except (UnicodeEncodeError, OverflowError):
        import json

        plain = msgspec.to_builtins(message, str_keys=True)
        return json.dumps(plain, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


# An unterminated string is one token to the end: were it none, every later quote in it would be tried anew.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_ID_VALUE = re.compile(rb'\s*:\s*(-?\d{1,18}|"(?:[^"\\\x00-\x1f]|\\["\\/bfnrtu])*")\s*[,}]')
_ID_LAST = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\\x00-\x1f]*")\s*(?:,\s*"[a-z]+"\s*:\s*"[^"\\]*"\s*)*\}\s*\Z')
_SCAN_TOKENS = 20_000
_SCAN_TAIL = 4096


def find_id(body: bytes | bytearray) -> int | str | None:
    """The top-level `id` of a body that cannot be decoded, or None. Bounded work, no recursion."""
    depth = 0
    for count, token in enumerate(_TOKEN.finditer(body)):
        if count > _SCAN_TOKENS:
            break
        text = token[0]
        if text in (b"{", b"["):
            depth += 1
        elif text in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and text == b'"id"':
            value = _ID_VALUE.match(body, token.end())
            if value:
                return _id_of(value[1])
    tail = _ID_LAST.search(body[-_SCAN_TAIL:])
    return _id_of(tail[1]) if tail else None


def _id_of(text: bytes) -> int | str | None:
    try:
        return msgspec.json.decode(bytes(text), type=int | str)
    except msgspec.DecodeError:
        return None


def _first_line(problem: Exception) -> str:
    return str(problem).partition("\n")[0]
