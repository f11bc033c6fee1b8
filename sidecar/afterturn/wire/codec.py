"""Message bodies to envelopes and back (protocol.md, 'Framing and transport').

msgspec does the work: an envelope whose `params` stay raw, then one typed decode for the method. Where it
refuses what the wire allows - a lone surrogate escape, which Node writes when it cuts a string, or `[]` for an
empty object, which Lua writes - a slower path through the standard library takes over for that one message.
"""

import re
from collections.abc import Callable
from typing import Any, Never, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, inspect

from afterturn.misfits import split_problem

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

_MAX_DIGITS = 4300


class Envelope(Struct, gc=False):
    """Any message of a peer.

    `params`, `result` and `error` are raw as received; after the slow path they hold the plain value instead. Fields
    stand in the order in which they mostly come, since each is looked for behind the one before.
    """

    jsonrpc: str | UnsetType = UNSET
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


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


# The usual case of `decode_envelope` and of `encode`, for where a call more would count: they raise what msgspec
# raises, and whoever calls them then asks the function that knows all cases.
decode_usual = msgspec.json.Decoder(Envelope).decode
encode_usual = msgspec.json.Encoder().encode
_skip = msgspec.json.Decoder(Raw).decode


def decode_envelope(body: bytes | bytearray) -> Envelope:
    """One message body as an envelope. Raises Malformed."""
    try:
        return decode_usual(body)
    except msgspec.ValidationError as problem:
        _check_syntax(body)
        raise Malformed(INVALID_REQUEST, f"Invalid request: {_first_line(problem)}") from None
    except RecursionError:
        raise Malformed(PARSE_ERROR, "The message is nested too deeply", find_id(body)) from None
    except msgspec.DecodeError:
        return _decode_slowly(body)


def _check_syntax(body: bytes | bytearray) -> None:
    """Raise Malformed for what is no JSON: msgspec stops at the first value of a wrong type and reads no further."""
    try:
        _skip(body)
    except RecursionError:
        return  # a batch array nested too deeply is, before anything else, a batch array
    except msgspec.DecodeError:
        _loads_message(body)


def _loads_message(body: bytes | bytearray) -> Any:
    """A whole body by the slow path. Raises Malformed."""
    try:
        return loads(body)
    except UnicodeDecodeError:
        raise Malformed(PARSE_ERROR, "The message is not UTF-8", find_id(body)) from None
    except RecursionError:
        raise Malformed(PARSE_ERROR, "The message is nested too deeply", find_id(body)) from None
    except ValueError as problem:
        raise Malformed(PARSE_ERROR, f"Malformed JSON: {_first_line(problem)}") from None


def _decode_slowly(body: bytes | bytearray) -> Envelope:
    value = _loads_message(body)
    try:
        head = msgspec.convert(_fitted(value, inspect.type_info(_Head)), _Head)
    except msgspec.ValidationError as problem:
        raise Malformed(INVALID_REQUEST, f"Invalid request: {_first_line(problem)}") from None
    rest: dict[str, Any] = {name: value[name] for name in ("params", "result", "error") if name in value}
    return Envelope(id=head.id, method=head.method, jsonrpc=head.jsonrpc, **rest)


def loads(body: bytes | bytearray | Raw) -> Any:
    """JSON with lone surrogates kept, NaN and Infinity refused. Raises ValueError, RecursionError."""
    import json

    return json.loads(bytes(body).decode("utf-8"), parse_constant=_refuse_constant, parse_int=_integer)


def _integer(digits: str) -> int | float:
    """An integer, or what every other reader of JSON makes of one that the interpreter refuses to read."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")


class ParamsDecoder:
    """The typed decode of one method's params."""

    def __init__(self, type_: type[Any]) -> None:
        self._type = type_
        self.decode_usual: Callable[[Any], Any] = msgspec.json.Decoder(type_).decode

    def decode(self, params: Any) -> Any:
        """`params` (Raw, a plain value, or UNSET for none) as the method's Struct.

        Raises InvalidParams, and Malformed (with id None) for bytes that are no JSON at all.
        """
        try:
            if type(params) is Raw:
                return self.decode_usual(params)
            return msgspec.convert({} if params is UNSET or params is None else params, self._type)
        except msgspec.ValidationError as problem:
            if not _FORGIVABLE.match(str(problem)):
                raise _invalid(problem) from None
            return self._decode_slowly(params)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return self._decode_slowly(params)

    def _decode_slowly(self, params: Any) -> Any:
        """Forgive `[]` for `{}`, a null for nothing, and lone surrogates; else say what is wrong where."""
        try:
            value = loads(params) if type(params) is Raw else params
        except UnicodeDecodeError:
            raise Malformed(PARSE_ERROR, "The params are not UTF-8") from None
        except RecursionError:
            raise Malformed(PARSE_ERROR, "The params are nested too deeply") from None
        except ValueError as error:
            raise Malformed(PARSE_ERROR, f"Malformed JSON: {_first_line(error)}") from None
        fitted = _fitted({} if value is None else value, inspect.type_info(self._type))
        try:
            try:
                return msgspec.convert(fitted, self._type)
            except UnicodeEncodeError:
                # A text in a number's place is looked at as UTF-8; a whole one is told from a number where it stands.
                msgspec.convert(_whole(fitted), self._type)
                raise InvalidParams("$", "text without lone surrogates", "A lone surrogate is misplaced") from None
        except msgspec.ValidationError as error:
            raise _invalid(error) from None


def _invalid(problem: Exception) -> InvalidParams:
    path, expected = split_problem(str(problem))
    return InvalidParams(path, expected, _first_line(problem))


# `[]` for an object anywhere, null for the params as a whole, and integers of thousands of digits.
_FORGIVABLE = re.compile(r"Expected `[^`]*object[^`]*`, got `(array|null)`|Integer value out of range")


def _fitted(value: Any, type_: inspect.Type) -> Any:
    """`value` with `{}` where it has `[]` and its type an object, and without the fields that its type does not have.

    Both at every level that is ours. A lone surrogate in the name of a field that is none of ours does no harm then.
    """
    if isinstance(type_, inspect.UnionType):
        types = type_.types
        if value == [] and any(isinstance(each, _ARRAYS) for each in types):
            return cast("list[Any]", value)
        for each in types:
            value = _fitted(value, each)
        return value
    if isinstance(type_, _OBJECTS) and value == []:
        return {}
    if isinstance(type_, inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in type_.fields}
        mapping = cast("dict[str, Any]", value)
        return {name: _fitted(item, fields[name]) for name, item in mapping.items() if name in fields}
    if isinstance(type_, inspect.ListType | inspect.VarTupleType) and isinstance(value, list):
        return [_fitted(item, type_.item_type) for item in cast("list[Any]", value)]
    if isinstance(type_, inspect.DictType) and isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        return {name: _fitted(item, type_.value_type) for name, item in mapping.items()}
    return value


_OBJECTS = (inspect.StructType, inspect.DictType)
_ARRAYS = (inspect.ListType, inspect.VarTupleType, inspect.AnyType)


def encode(message: Any) -> bytes:
    """Any message as JSON. Raises TypeError, ValueError or RecursionError for what JSON cannot say.

    Lone surrogates come out as the escapes they came in as; integers may be of any size.
    """
    try:
        return encode_usual(message)
    except (UnicodeEncodeError, OverflowError):
        import json

        plain = msgspec.to_builtins(message, str_keys=True)
        return json.dumps(plain, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


_ESCAPE = re.compile(
    rb"\\(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def without_halves(body: bytes) -> bytes:
    """An encoded message with U+FFFD in place of every lone surrogate, for readers that refuse a text with one."""
    if b"\\ud" not in body and b"\\uD" not in body:
        return body
    return _ESCAPE.sub(lambda found: b"\\ufffd" if found["half"] else found[0], body)


def _whole(value: Any) -> Any:
    """`value` with U+FFFD in place of every lone surrogate."""
    import json

    return json.loads(without_halves(json.dumps(value).encode("ascii")))


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
